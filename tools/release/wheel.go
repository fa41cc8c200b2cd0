package main

import (
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"sync"
)

//go:embed all:python
var pythonSources embed.FS

// wheels packs each program for pip, with the headers. The program is in the wheel's scripts, so
// that pip adds it to the PATH: starting it through Python would take longer than the run itself.
func (r *release) wheels(binaries []binary, s *shared) ([]file, error) {
	sources, err := subtree(pythonSources, "python")
	if err != nil {
		return nil, err
	}
	out, errs := make([]file, len(binaries)), make([]error, len(binaries))
	var all sync.WaitGroup
	for i, b := range binaries { // concurrently, because zopfli is slow
		all.Go(func() { out[i], errs[i] = r.wheel(b, s, sources) })
	}
	all.Wait()
	return out, errors.Join(errs...)
}

// wheel packs the program of one platform.
func (r *release) wheel(b binary, s *shared, sources []file) (file, error) {
	tags, err := b.wheelTags()
	if err != nil {
		return file{}, err
	}
	info := "dlpackgen-" + r.version + ".dist-info"
	files := slices.Concat(below("dlpackgen", sources), below("dlpackgen/include", s.include),
		below("dlpackgen/cmake", s.cmake),
		[]file{program("dlpackgen-"+r.version+".data/scripts/"+b.program(), b.data),
			{path: info + "/METADATA", data: r.metadata(s)}, {path: info + "/WHEEL", data: wheelFile(tags)},
			{path: info + "/entry_points.txt", data: []byte(entryPoints)}},
		below(info+"/licenses", s.licences))
	files = append(files, record(files, info+"/RECORD"))
	compress := zopfli
	if r.quick {
		compress = deflate
	}
	data, err := zipped(r.when, files, compress)
	return file{path: "dlpackgen-" + r.version + "-py3-none-" + strings.Join(tags, ".") + ".whl", data: data}, err
}

func subtree(tree fs.FS, dir string) ([]file, error) {
	sub, err := fs.Sub(tree, dir)
	if err != nil {
		return nil, err
	}
	return readTree(sub)
}

// wheelTags are the supported platforms of a program. A static program needs no libc.
func (b binary) wheelTags() ([]string, error) {
	arch := map[string]string{"amd64": "x86_64", "arm64": "aarch64"}[b.arch]
	switch b.os {
	case "darwin":
		minimum, err := b.minimumMacOS()
		arch = map[string]string{"amd64": "x86_64", "arm64": "arm64"}[b.arch]
		return []string{"macosx_" + strings.ReplaceAll(minimum, ".", "_") + "_" + arch}, err
	case "windows":
		return []string{"win_" + b.arch}, nil
	default:
		return []string{"manylinux_2_17_" + arch, "manylinux2014_" + arch, "musllinux_1_1_" + arch}, nil
	}
}

// entryPoints tell CMake the package's folder, through scikit-build-core.
const entryPoints = "[cmake.root]\ndlpackgen = dlpackgen.cmake\n"

func wheelFile(tags []string) []byte {
	text := "Wheel-Version: 1.0\nGenerator: dlpackgen\nRoot-Is-Purelib: false\n"
	for _, tag := range tags {
		text += "Tag: py3-none-" + tag + "\n"
	}
	return []byte(text)
}

func (r *release) metadata(s *shared) []byte {
	var b strings.Builder
	fmt.Fprintf(&b, `Metadata-Version: 2.4
Name: dlpackgen
Version: %s
Summary: %s
License-Expression: Apache-2.0
`, r.version, summary)
	for _, f := range s.licences {
		fmt.Fprintf(&b, "License-File: %s\n", f.path)
	}
	fmt.Fprintf(&b, `Project-URL: Homepage, %[1]s
Project-URL: Changelog, %[1]s/blob/%[2]s/CHANGELOG.md
Keywords: dlpack,tensor,kernel,codegen,bindings
Classifier: Development Status :: 4 - Beta
Classifier: Intended Audience :: Developers
Classifier: Topic :: Software Development :: Code Generators
Requires-Python: >=3.8
Description-Content-Type: text/markdown

%[3]s`, homepage, r.tag(), s.readme.data)
	return []byte(b.String())
}

const (
	homepage = "https://" + modulePath
	summary  = "Generate callers of C, C++, CUDA and Go kernels for NumPy, PyTorch, JAX and other hosts of DLPack"
)

// record lists a wheel's files with their digests; its own entry is last and has no digest.
func record(files []file, name string) file {
	var b strings.Builder
	for _, f := range files {
		sum := sha256.Sum256(f.data)
		fmt.Fprintf(&b, "%s,sha256=%s,%d\n", f.path, base64.RawURLEncoding.EncodeToString(sum[:]), len(f.data))
	}
	fmt.Fprintf(&b, "%s,,\n", name)
	return file{path: name, data: []byte(b.String())}
}
