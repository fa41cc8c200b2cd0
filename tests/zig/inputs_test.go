package zig

import (
	"testing"

	"github.com/dlpackgen/dlpackgen/internal/tier"
)

// TestInputs lets go test see what child processes of these tests read.
func TestInputs(t *testing.T) { tier.Record(t) }
