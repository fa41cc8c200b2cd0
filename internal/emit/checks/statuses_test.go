package checks

import (
	"maps"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/dlpackgen/dlpackgen/internal/emit/emittest"
	"github.com/dlpackgen/dlpackgen/internal/kernel/contract"
)

// Descriptions may raise the exceptions of <dlpackgen/message.h>, except SystemError, which reports
// mistakes in descriptions.
func TestStatusesAreThoseOfTheListInC(t *testing.T) {
	want := map[string]string{}
	for _, m := range emittest.Matches(t, "c/message.h", `(?m)^  STATUS\((\w+), (\w+), \d+\)`) {
		want[m[2]] = m[1]
	}
	assert.Equal(t, "SYSTEM_ERROR", want["SystemError"])
	delete(want, "SystemError")
	assert.Equal(t, want, statuses)
	assert.ElementsMatch(t, slices.Collect(maps.Keys(want)), contract.Classes)
}
