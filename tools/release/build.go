package main

import (
	"bytes"
	"debug/buildinfo"
	"debug/macho"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// platform is a system of the binaries, in Go's terms.
type platform struct{ os, arch string }

var platforms = []platform{
	{"linux", "amd64"}, {"linux", "arm64"}, {"darwin", "amd64"}, {"darwin", "arm64"},
	{"windows", "amd64"}, {"windows", "arm64"},
}

func (p platform) String() string { return p.os + "/" + p.arch }

// program is the file name of the binary.
func (p platform) program() string {
	if p.os == "windows" {
		return "dlpackgen.exe"
	}
	return "dlpackgen"
}

func names(all []platform) (out []string) {
	for _, p := range all {
		out = append(out, p.String())
	}
	return out
}

// choose returns the platforms with the given names.
func choose(only []string) (chosen []platform, err error) {
	for _, name := range only {
		i := slices.Index(names(platforms), name)
		if i < 0 {
			return nil, fmt.Errorf("no platform %q; there are: %s", name, strings.Join(names(platforms), ", "))
		}
		chosen = append(chosen, platforms[i])
	}
	return chosen, nil
}

// binary is the program for a platform.
type binary struct {
	platform
	data []byte
	info *buildinfo.BuildInfo
}

// Functions are not inlined: binaries are a seventh smaller, but a seventh slower.
const compilerFlags = "-gcflags=all=-l"

// install builds the program, and returns its path.
func (r *release) install(p platform, flags ...string) (string, error) {
	argv := append([]string{"go", "install"}, flags...)
	if !r.quick {
		argv = append(argv, compilerFlags)
	}
	env := append(slices.Clone(r.env), "GOOS="+p.os, "GOARCH="+p.arch)
	if _, err := output(r.tmp, env, append(argv, modulePath+"/cmd/dlpackgen@"+r.tag())...); err != nil {
		return "", err
	}
	dir := filepath.Join(r.tmp, "go", "bin")
	if p != (platform{runtime.GOOS, runtime.GOARCH}) {
		dir = filepath.Join(dir, p.os+"_"+p.arch)
	}
	return filepath.Join(dir, p.program()), nil
}

// build builds the binaries, which contain the digest instead of the sources that determine it.
func (r *release) build(chosen []platform) (all []binary, err error) {
	link := "-ldflags=-s -w -X " + modulePath + "/internal/tool.stamped=" + r.digest
	for _, p := range chosen {
		path, err := r.install(p, "-tags=dlpackgen_release", link)
		if err != nil {
			return nil, err
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		info, err := buildinfo.Read(bytes.NewReader(data))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", p, err)
		}
		all = append(all, binary{p, data, info})
	}
	return all, nil
}

// minimumMacOS reads the oldest macOS version that a binary supports, such as 12.0.
func (b binary) minimumMacOS() (string, error) {
	const buildVersion = 0x32 // LC_BUILD_VERSION: command, size, platform, minimum version
	parsed, err := macho.NewFile(bytes.NewReader(b.data))
	if err != nil {
		return "", err
	}
	for _, load := range parsed.Loads {
		raw := load.Raw()
		if len(raw) >= 16 && parsed.ByteOrder.Uint32(raw) == buildVersion {
			minimum := parsed.ByteOrder.Uint32(raw[12:])
			return fmt.Sprintf("%d.%d", minimum>>16, minimum>>8&0xff), nil
		}
	}
	return "", fmt.Errorf("%s: the binary does not say which macOS it needs", b.platform)
}
