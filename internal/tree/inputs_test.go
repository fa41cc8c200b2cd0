package tree

import (
	"os"
	"testing"

	"github.com/dlpackgen/dlpackgen/internal/tier"
)

func TestMain(m *testing.M) { os.Exit(tier.Tests{M: m}.Run()) }

// TestInputs registers the files that child processes of these tests read.
func TestInputs(t *testing.T) { tier.Record(t) }
