package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/dlpackgen/dlpackgen/internal/config"
	"github.com/dlpackgen/dlpackgen/internal/diag"
	"github.com/dlpackgen/dlpackgen/internal/emit"
	"github.com/dlpackgen/dlpackgen/internal/spec"
	"github.com/dlpackgen/dlpackgen/internal/targets"
	"github.com/dlpackgen/dlpackgen/internal/yaml"
)

// selection is what the flags that generate, check and clean share say.
type selection struct {
	cmd      *cobra.Command
	config   string
	noConfig bool
	spec     string
	dlpack   string
	prefix   string
	out      string
	only     []string
}

func selectionFlags(cmd *cobra.Command) *selection {
	s := &selection{cmd: cmd}
	f := cmd.Flags()
	f.StringVar(&s.config, "config", "", "`FILE` to read instead of ./"+config.File)
	f.BoolVar(&s.noConfig, "no-config", false, "read no config")
	f.StringVar(&s.spec, "spec", "", "`FILE` with the spec, instead of the one inside the tool")
	f.StringVar(&s.dlpack, "dlpack", "", "`VERSION` of DLPack for every target, such as 1.3, main or latest")
	f.StringVar(&s.prefix, "prefix", "", "`PREFIX` of the names of C, such as acme_, for a copy that is vendored")
	f.StringSliceVar(&s.only, "only", nil,
		"`TARGETS` to select, separated by commas; other targets are neither checked nor changed")
	f.StringVar(&s.out, "out", "", "`DIR` to use instead of the config's out; without a config, for all targets")
	completeList(cmd, "only", targets.Names)
	complete(cmd, "dlpack", versions)
	return s
}

// versions gives what --dlpack takes.
func versions() []string {
	out := []string{"latest"}
	for _, r := range spec.Embedded().Releases() {
		out = append(out, r.Version)
	}
	return out
}

// job is a selection with its files read.
type job struct {
	spec   *spec.Spec
	config *config.Config
	only   bool   // --only was given
	dir    string // of the config
	out    string // of this system
	lock   string
	inputs []string // config and spec, as the user named them
	read   []string // what else the output depends on: go.mod, templates
	notes  []diag.Diagnostic
	// folders has the folders of templates that were read, by their paths in the config.
	folders map[string]*emit.Folder
}

// load reads the spec and the config; every finding in either ends the run.
func (s *selection) load() (*job, error) {
	if err := notEmpty(s.cmd, "config", "spec", "dlpack", "prefix", "only", "out"); err != nil {
		return nil, err
	}
	if s.config != "" && s.noConfig {
		return nil, cannot("usage", "leave one of them out", "--config does not go with --no-config")
	}
	j := &job{only: len(s.only) > 0}
	if err := j.loadSpec(s.spec); err != nil {
		return nil, err
	}
	return j, s.loadConfig(j)
}

func (j *job) loadSpec(file string) error {
	if file == "" {
		j.spec = spec.Embedded()
		return nil
	}
	var err error
	j.spec, j.notes, err = loadSpec(file)
	j.inputs = append(j.inputs, file)
	return err
}

// loadSpec reads a valid spec, and gives the warnings about it.
func loadSpec(file string) (*spec.Spec, []diag.Diagnostic, error) {
	src, err := readInput(file)
	if err != nil {
		return nil, nil, err
	}
	sp, findings := spec.Load(file, src)
	return sp, findings.Sorted(), invalid(findings)
}

// loadConfig finds the config, or does without one where --out says where files go.
func (s *selection) loadConfig(j *job) error {
	file, src, err := s.readConfig()
	if err != nil {
		return err
	}
	choice := config.Choice{Release: s.dlpack, Only: s.only, Prefix: s.prefix}
	var findings *diag.List
	if file == "" {
		j.config, findings = config.Default(j.spec, targets.Table(), choice)
		file = config.File
	} else {
		j.config, findings = config.Decode(file, src, j.spec, targets.Table(), choice)
		j.inputs = append([]string{file}, j.inputs...)
	}
	if err := invalid(findings); err != nil {
		return err
	}
	j.notes = append(j.notes, findings.Sorted()...)
	j.dir = filepath.Dir(file)
	j.lock = config.LockName(filepath.ToSlash(file))
	j.out = s.out
	if j.out == "" {
		j.out = filepath.Join(filepath.Dir(file), filepath.FromSlash(j.config.Out))
	}
	return nil
}

// readConfig gives the config's name and bytes; no name means that there is none
// and none is needed.
func (s *selection) readConfig() (string, []byte, error) {
	if s.config != "" {
		if ofProcess(s.config) {
			return "", nil, cannot("usage", "give the file by its name", "--config %s has no folder, which the paths in a "+
				"config are relative to", s.config)
		}
		src, err := readInput(s.config)
		return s.config, src, err
	}
	if !s.noConfig {
		src, err := readInput(config.File)
		var missing *missingInput
		if !errors.As(err, &missing) {
			return config.File, src, err
		}
	}
	if s.out == "" {
		hint := configAbove() + "write one with `dlpackgen init`, or pass the output directory: --out DIR"
		return "", nil, cannot("no-config", hint, "there is no %s here, and no --out", config.File)
	}
	return "", nil, nil
}

// configAbove begins a hint where a folder above has a config.
func configAbove() string {
	here, err := filepath.Abs(".")
	up := ".."
	for ; err == nil && filepath.Dir(here) != here; here, up = filepath.Dir(here), filepath.Join(up, "..") {
		file := filepath.Join(up, config.File)
		if info, err := os.Stat(file); err == nil && info.Mode().IsRegular() {
			return "use the one of a folder above, by --config " + file + "; or "
		}
	}
	return ""
}

// ofProcess tells a name of an open file, such as /dev/stdin. A run would write beside it.
func ofProcess(file string) bool {
	full, err := filepath.Abs(file)
	full = filepath.ToSlash(full)
	return err == nil && (strings.HasPrefix(full, "/dev/") || strings.HasPrefix(full, "/proc/"))
}

// missingInput tells a file that is not there from one that cannot be read.
type missingInput struct{ *failure }

// Unwrap lets the failure itself be found.
func (m *missingInput) Unwrap() error { return m.failure }

// readInput reads a spec or config, and no more of it than the parser needs in
// order to say that it is too large.
func readInput(file string) ([]byte, error) {
	if file == "" {
		return nil, cannot("usage", "leave it out, or give the name of a file", "the name of a file is empty")
	}
	f, err := openInput(file)
	if err == nil {
		defer f.Close()
		var src []byte
		if src, err = io.ReadAll(io.LimitReader(f, yaml.MaxBytes+1)); err == nil {
			expectMuch(len(src))
			return src, nil
		}
	}
	failed := cannot("unreadable", "", "%v", reason(err))
	failed.findings[0].Pos.File = file
	if errors.Is(err, fs.ErrNotExist) {
		failed.findings[0].Hint = similar(file)
		return nil, &missingInput{failed}
	}
	return nil, failed
}

// similar gives a hint for a file that is not there.
func similar(file string) string {
	if file == "-" {
		return "- is a file of that name: stdin is not read"
	}
	entries, err := os.ReadDir(filepath.Dir(file))
	if err != nil {
		return "there is no folder " + filepath.Dir(file)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return diag.DidYouMean(filepath.Base(file), names)
}

// openInput opens a regular file: opening a pipe would wait for its writer, which
// may never come.
func openInput(file string) (*os.File, error) {
	info, err := os.Stat(file)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("it must be a regular file, not a folder, pipe or device (%s)", info.Mode().Type())
	}
	return os.Open(file)
}
