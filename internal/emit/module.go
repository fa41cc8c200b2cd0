package emit

import (
	"cmp"
	"fmt"
	"regexp"
)

// optionModule is the option for the Python module of the config's kernels.
const optionModule = "module"

const defaultModule = "_kernels"

// ModuleOption returns that option, with documentation for a target.
func ModuleOption(doc string) Option {
	return Option{Name: optionModule, Default: defaultModule, Doc: doc, Check: checkModule}
}

// Module returns the value of the option.
func (m *Model) Module() string { return cmp.Or(m.Options[optionModule], defaultModule) }

var moduleName = regexp.MustCompile(`^([A-Za-z_][A-Za-z0-9_]*\.)*[A-Za-z_][A-Za-z0-9_]*$`)

func checkModule(value string) string {
	if !moduleName.MatchString(value) {
		return fmt.Sprintf("%q is not the name of a module", value)
	}
	return ""
}

// MaxParameters is DLPACKGEN_MAX_PARAMETERS of parameter.h: the maximum number of arguments and
// results of a module's function.
const MaxParameters = 32
