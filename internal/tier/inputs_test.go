package tier

import "testing"

// TestInputs lets go test see what child processes of these tests read.
func TestInputs(t *testing.T) { Record(t) }
