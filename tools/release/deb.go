package main

import (
	"bytes"
	"crypto/md5" //nolint:gosec // what dpkg --verify reads
	"fmt"
	"strings"
	"time"
)

const maintainer = "dlpackgen developers <dlpackgen@users.noreply.github.com>"

// debianPackages packs the programs for Linux. A .deb is an ar archive of two tarballs; this code
// is shorter than the libraries for it.
func (r *release) debianPackages(binaries []binary, s *shared) (out []file, err error) {
	for _, b := range binaries {
		if b.os != "linux" {
			continue
		}
		files := r.debianFiles(b, s)
		data, err := tarball(r.when, withFolders(files))
		if err != nil {
			return nil, err
		}
		control, err := tarball(r.when, withFolders([]file{
			{path: "control", data: r.debianControl(b, files)}, {path: "md5sums", data: md5sums(files)},
		}))
		if err != nil {
			return nil, err
		}
		out = append(out, file{path: "dlpackgen_" + r.version + "_" + b.arch + ".deb", data: ar(r.when, []file{
			{path: "debian-binary", data: []byte("2.0\n")}, {path: "control.tar.gz", data: control},
			{path: "data.tar.gz", data: data}})})
	}
	return out, nil
}

func (r *release) debianFiles(b binary, s *shared) []file {
	doc := "usr/share/doc/dlpackgen/"
	files := []file{
		program("usr/bin/dlpackgen", b.data),
		{path: "usr/share/bash-completion/completions/dlpackgen", data: s.shells["bash"]},
		{path: "usr/share/zsh/vendor-completions/_dlpackgen", data: s.shells["zsh"]},
		{path: "usr/share/fish/vendor_completions.d/dlpackgen.fish", data: s.shells["fish"]},
		{path: doc + "copyright", data: copyright(s)},
		{path: doc + "changelog.gz", data: compress(r.debianChangelog())},
		{path: "usr/share/lintian/overrides/dlpackgen", data: []byte(overrides)},
	}
	files = append(files, below("usr/lib/cmake/dlpackgen", s.cmake)...)
	for _, page := range s.manual {
		files = append(files, file{path: "usr/share/man/man1/" + page.path + ".gz", data: compress(page.data)})
	}
	return files
}

// Go programs without cgo are static.
const overrides = "# It runs on every Linux of its architecture, whatever the C library.\n" +
	"dlpackgen: statically-linked-binary [usr/bin/dlpackgen]\n"

func (r *release) debianControl(b binary, files []file) []byte {
	size := 0
	for _, f := range files {
		size += (len(f.data) + 1023) / 1024
	}
	return fmt.Appendf(nil, `Package: dlpackgen
Version: %s
Architecture: %s
Maintainer: %s
Installed-Size: %d
Section: devel
Priority: optional
Homepage: %s
Description: generator of callers of kernels, headers and bindings for DLPack
 A kernel is written once in C, C++, CUDA or Go. dlpackgen generates the code
 that calls it from NumPy, PyTorch, JAX and other hosts, and that checks every
 argument first. DLPack passes the tensors, so nothing is copied. dlpackgen
 also generates the C header of every DLPack release with asserts on its
 layout, and bindings for C++, Go and Python.
`, r.version, b.arch, maintainer, size, homepage)
}

func (r *release) debianChangelog() []byte {
	return fmt.Appendf(nil,
		"dlpackgen (%s) unstable; urgency=medium\n\n  * See %s/blob/%s/CHANGELOG.md\n\n -- %s  %s\n",
		r.version, homepage, r.tag(), maintainer, r.when.Format(time.RFC1123Z))
}

func copyright(s *shared) []byte {
	var b strings.Builder
	fmt.Fprintf(&b, `Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
Upstream-Name: dlpackgen
Source: %s

Files: *
Copyright: The dlpackgen authors
License: Apache-2.0
 On Debian systems, the text is in /usr/share/common-licenses/Apache-2.0.
Comment:
`, homepage)
	var others []linked
	for _, m := range s.modules {
		if strings.Contains(m.text, "TERMS AND CONDITIONS FOR USE, REPRODUCTION") {
			m.text = "On Debian systems, the text is in /usr/share/common-licenses/Apache-2.0.\n"
		}
		others = append(others, m)
	}
	for line := range strings.Lines(string(thirdParty(others).data)) {
		if line = strings.TrimSpace(line); line == "" {
			line = "."
		}
		fmt.Fprintf(&b, " %s\n", line)
	}
	return []byte(b.String())
}

func md5sums(files []file) []byte {
	var b bytes.Buffer
	for _, f := range sorted(files) {
		fmt.Fprintf(&b, "%x  %s\n", md5.Sum(f.data), f.path) //nolint:gosec // as above
	}
	return b.Bytes()
}

// ar is the archive format of Unix, with names of at most 16 bytes.
func ar(when time.Time, members []file) []byte {
	var b bytes.Buffer
	b.WriteString("!<arch>\n")
	for _, m := range members {
		fmt.Fprintf(&b, "%-16s%-12d%-6d%-6d%-8o%-10d`\n", m.path, when.Unix(), 0, 0, 0o100644, len(m.data))
		b.Write(m.data)
		if len(m.data)%2 == 1 {
			b.WriteByte('\n')
		}
	}
	return b.Bytes()
}
