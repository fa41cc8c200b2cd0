package testkit

import (
	"os"
	"os/exec"
	"strings"
)

// Vet runs go vet on packages of a module in a folder, with more in its environment. It is never
// given -trimpath: with it the go command takes what cgo made of the same files in another folder
// from its cache, and go vet opens them there, where another test may have removed them.
func Vet(dir string, env []string, packages ...string) (string, error) {
	cmd := exec.Command("go", append([]string{"vet"}, packages...)...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), env...)
	flags := ""
	for _, variable := range cmd.Env { // the last one counts
		if value, ok := strings.CutPrefix(variable, "GOFLAGS="); ok {
			flags = value
		}
	}
	cmd.Env = append(cmd.Env, "GOFLAGS="+strings.ReplaceAll(flags, "-trimpath", ""))
	out, err := cmd.CombinedOutput()
	return string(out), err
}
