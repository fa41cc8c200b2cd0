package checks

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/dlpackgen/dlpackgen/internal/emit"
	"github.com/dlpackgen/dlpackgen/internal/kernel/contract"
)

// Descriptions may raise the exceptions of <dlpackgen/message.h>, except SystemError, which reports
// mistakes in descriptions.
func TestStatusesAreThoseOfTheListInC(t *testing.T) {
	var exceptions []string
	for _, s := range emit.Statuses() {
		exceptions = append(exceptions, s.Exception)
	}
	assert.ElementsMatch(t, append([]string{"SystemError"}, contract.Classes...), exceptions)
	assert.Equal(t, "DLPACKGEN_STATUS_NOT_IMPLEMENTED_ERROR", statusOf("NotImplementedError"))
}
