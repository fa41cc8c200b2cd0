package checks

import (
	"maps"
	"regexp"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/dlpackgen/dlpackgen/internal/kernel/contract"
	"github.com/dlpackgen/dlpackgen/templates"
)

// Descriptions may raise the exceptions of <dlpackgen/message.h>, except SystemError, which reports
// mistakes in descriptions.
func TestStatusesAreThoseOfTheListInC(t *testing.T) {
	text, err := templates.Text("c/message.h")
	require.NoError(t, err)
	want := map[string]string{}
	for _, m := range regexp.MustCompile(`(?m)^  STATUS\((\w+), (\w+), \d+\)`).FindAllStringSubmatch(text, -1) {
		want[m[2]] = m[1]
	}
	assert.Equal(t, "SYSTEM_ERROR", want["SystemError"])
	delete(want, "SystemError")
	assert.Equal(t, want, statuses)
	assert.ElementsMatch(t, slices.Collect(maps.Keys(want)), contract.Classes)
}
