package config

import (
	"testing"

	"github.com/dlpackgen/dlpackgen/internal/golden"
	"github.com/dlpackgen/dlpackgen/internal/spec"
	"github.com/dlpackgen/dlpackgen/internal/targets"
)

// docs/schema/config.json is the output of `dlpackgen schema`.
func TestTheSchemaOfTheDocs(t *testing.T) {
	golden.Assert(t, "../docs/schema/config.json", Schema(spec.Embedded(), targets.Table()))
}
