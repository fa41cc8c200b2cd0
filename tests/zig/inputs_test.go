package zig

import (
	"testing"

	"github.com/dlpackgen/dlpackgen/internal/tier"
)

// TestInputs registers the files that child processes of these tests read.
func TestInputs(t *testing.T) { tier.Record(t) }
