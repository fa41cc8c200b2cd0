package tier

import "testing"

// TestInputs registers the files that child processes of these tests read.
func TestInputs(t *testing.T) { Record(t) }
