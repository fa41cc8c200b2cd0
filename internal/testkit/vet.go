package testkit

import (
	"fmt"
	"os"
	"os/exec"
	"strings"

	"github.com/dlpackgen/dlpackgen/internal/testtool"
)

// Vet runs go vet on packages of a module in a folder, with additional environment variables. It
// shares the build of the standard library with other go commands: both use -trimpath. With that,
// the go command would take what cgo made of the same files in another folder from its cache, and
// go vet would open them there, where another test may have removed them. Therefore each package of
// a module is compiled with a flag that names the folder, and changes nothing else.
func Vet(dir string, env []string, packages ...string) (string, error) {
	modules := goIn(dir, env, append([]string{"list", "-e", "-deps", "-f",
		"{{if not .Standard}}{{.ImportPath}}{{end}}"}, packages...))
	listed, err := modules.Output()
	if err != nil {
		return "", fmt.Errorf("go list: %w", err)
	}
	flag, err := testtool.Checkout(dir)
	if err != nil {
		return "", err
	}
	args := []string{"vet", "-trimpath", "-gcflags=" + flag}
	for _, path := range strings.Fields(string(listed)) {
		args = append(args, "-gcflags="+path+"="+flag)
	}
	out, err := goIn(dir, env, append(args, packages...)).CombinedOutput()
	return string(out), err
}

func goIn(dir string, env, args []string) *exec.Cmd {
	cmd := exec.Command("go", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), env...)
	return cmd
}
