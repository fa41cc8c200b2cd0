package main

import (
	"archive/zip"
	"bytes"
	"io/fs"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
	"time"
)

func TestAnUnknownPlatformIsRejected(t *testing.T) {
	if _, err := choose([]string{"linux/amd64", "plan9/386"}); err == nil || !strings.Contains(
		err.Error(), "plan9/386") {
		t.Errorf("choose gives %v", err)
	}
}

// An unreviewed licence stops a release.
func TestLicences(t *testing.T) {
	for text, want := range map[string]string{
		"Apache License\n  Version 2.0, January 2004":                                   "Apache-2.0",
		"Neither the name of Google Inc. nor":                                           "BSD-3-Clause",
		"Permission is hereby granted, free of charge, ... Apache License, Version 2.0": "Apache-2.0 AND MIT",
		"GNU GENERAL PUBLIC LICENSE":                                                    "", "": "",
	} {
		if got := identify(text); got != want {
			t.Errorf("identify(%q) gives %q, not %q", text, got, want)
		}
	}
}

func TestNamesOfPlatforms(t *testing.T) {
	for p, want := range map[platform][2]string{
		{"linux", "arm64"}:   {"linux-arm64", "manylinux_2_17_aarch64.manylinux2014_aarch64.musllinux_1_1_aarch64"},
		{"windows", "amd64"}: {"win32-x64", "win_amd64"},
		{"windows", "arm64"}: {"win32-arm64", "win_arm64"},
	} {
		system, cpu := p.npm()
		tags, err := binary{platform: p}.wheelTags()
		if err != nil || system+"-"+cpu != want[0] || strings.Join(tags, ".") != want[1] {
			t.Errorf("%s: %s-%s, %v, %v", p, system, cpu, tags, err)
		}
	}
	if _, err := (binary{platform: platform{"darwin", "arm64"}, data: []byte("no program")}).wheelTags(); err == nil {
		t.Error("the oldest macOS is read of the program")
	}
}

// Links to files point to the repository at the version's tag; others are unchanged.
func TestLinksOfTheReadmeAreAbsolute(t *testing.T) {
	const page, want = "[a](docs/a.md#b), [c](LICENSE), [d](#here), [e](https://example.com/e.md)",
		"[a](https://github.com/dlpackgen/dlpackgen/blob/v1.2.3/docs/a.md#b), " +
			"[c](https://github.com/dlpackgen/dlpackgen/blob/v1.2.3/LICENSE), [d](#here), [e](https://example.com/e.md)"
	if got := string(absoluteLinks([]byte(page), "v1.2.3")); got != want {
		t.Errorf("absoluteLinks gives %s", got)
	}
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range regexp.MustCompile(`\]\(([^)]*)\)`).FindAllSubmatch(absoluteLinks(readme, "v1.2.3"), -1) {
		if !strings.HasPrefix(string(m[1]), "https://") {
			t.Errorf("the README of packages links %s", m[1])
		}
	}
}

// zopfli compresses a large file, with a smaller result; unzip reads both forms.
func TestLargeFilesAreCompressedByZopfli(t *testing.T) {
	source, err := os.ReadFile("../../docs/architecture.md")
	if err != nil {
		t.Fatal(err)
	}
	sizes := map[string]int{}
	for name, compress := range map[string]deflater{"zopfli": zopfli, "quick": deflate} {
		if _, err := exec.LookPath("zopfli"); err != nil && name == "zopfli" {
			t.Skip("needs zopfli (Debian: zopfli)")
		}
		files := []file{program("p", source), {path: "a", data: []byte("a")}}
		packed, err := zipped(time.Unix(1767323045, 0), files, compress)
		if err != nil {
			t.Fatal(err)
		}
		archive, err := zip.NewReader(bytes.NewReader(packed), int64(len(packed)))
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range archive.File {
			want := map[string]string{"p": string(source), "a": "a"}[f.Name]
			if data, err := fs.ReadFile(archive, f.Name); err != nil || string(data) != want {
				t.Errorf("%s: %s has other bytes: %v", name, f.Name, err)
			}
		}
		sizes[name] = len(packed)
	}
	if sizes["zopfli"] >= sizes["quick"] {
		t.Errorf("sizes are %v", sizes)
	}
}

// Without zopfli, a release would have different bytes, so the build fails.
func TestZopfliIsRequired(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	if _, err := zopfli([]byte("x")); err == nil || !strings.Contains(err.Error(), "Debian: zopfli") {
		t.Errorf("zopfli gives %v", err)
	}
}

// The order of files and the time of the build have no effect.
func TestArchivesAreReproducible(t *testing.T) {
	when := time.Unix(1767323045, 0).UTC()
	a, b := file{path: "b/a", data: []byte("1")}, program("a", []byte("22"))
	first, err := tarball(when, withFolders([]file{a, b}))
	if err != nil {
		t.Fatal(err)
	}
	second, err := tarball(when, withFolders([]file{b, a}))
	if err != nil || string(first) != string(second) {
		t.Errorf("two orders give two archives, %v", err)
	}
	packed := string(ar(when, []file{{path: "x", data: []byte("odd")}}))
	if !strings.HasSuffix(packed, "odd\n") || len(packed)%2 != 0 || !strings.HasPrefix(packed, "!<arch>\nx      ") {
		t.Errorf("%q", packed)
	}
}
