package release

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"debug/buildinfo"
	"debug/elf"
	"debug/macho"
	"debug/pe"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/dlpackgen/dlpackgen/internal/mutant"
	"github.com/dlpackgen/dlpackgen/internal/testtool"
)

// platformOf reads the system and the machine of a program from its headers, in Go's terms.
func platformOf(program []byte) string {
	r := bytes.NewReader(program)
	if f, err := elf.NewFile(r); err == nil {
		return "linux/" + map[elf.Machine]string{elf.EM_X86_64: "amd64", elf.EM_AARCH64: "arm64"}[f.Machine]
	}
	if f, err := macho.NewFile(r); err == nil {
		return "darwin/" + map[macho.Cpu]string{macho.CpuAmd64: "amd64", macho.CpuArm64: "arm64"}[f.Cpu]
	}
	if f, err := pe.NewFile(r); err == nil {
		return "windows/" + map[uint16]string{pe.IMAGE_FILE_MACHINE_AMD64: "amd64",
			pe.IMAGE_FILE_MACHINE_ARM64: "arm64"}[f.Machine]
	}
	return "no program"
}

// needs lists the loader and the libraries of an ELF program: none, if it is static.
func needs(t *testing.T, program []byte) []string {
	t.Helper()
	f, err := elf.NewFile(bytes.NewReader(program))
	require.NoError(t, err)
	all, err := f.ImportedLibraries()
	require.NoError(t, err)
	for _, part := range f.Progs {
		if part.Type == elf.PT_INTERP {
			loader, err := io.ReadAll(part.Open())
			require.NoError(t, err)
			all = append(all, "loader "+strings.TrimRight(string(loader), "\x00"))
		}
	}
	return all
}

// The system and the machine of each tag of a wheel.
var tagged = map[*regexp.Regexp]string{
	regexp.MustCompile(`^(many|musl)linux(_\d+_\d+|2014)_x86_64$`):  "linux/amd64",
	regexp.MustCompile(`^(many|musl)linux(_\d+_\d+|2014)_aarch64$`): "linux/arm64",
	regexp.MustCompile(`^macosx_\d+_\d+_x86_64$`):                   "darwin/amd64",
	regexp.MustCompile(`^macosx_\d+_\d+_arm64$`):                    "darwin/arm64",
	regexp.MustCompile(`^win_amd64$`):                               "windows/amd64",
	regexp.MustCompile(`^win_arm64$`):                               "windows/arm64",
}

func platformOfTag(tag string) string {
	for pattern, platform := range tagged {
		if pattern.MatchString(tag) {
			return platform
		}
	}
	return "no tag: " + tag
}

// archived reads a file of a zip or tar.gz archive by the end of its path.
func archived(t *testing.T, archive, end string) []byte {
	t.Helper()
	data := []byte(read(t, archive))
	if !strings.HasSuffix(archive, ".tar.gz") {
		files, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
		require.NoError(t, err)
		for _, f := range files.File {
			if strings.HasSuffix(f.Name, end) {
				r, err := f.Open()
				require.NoError(t, err)
				return all(t, r)
			}
		}
	} else {
		unzipped, err := gzip.NewReader(bytes.NewReader(data))
		require.NoError(t, err)
		files := tar.NewReader(unzipped)
		for f, err := files.Next(); err == nil; f, err = files.Next() {
			if strings.HasSuffix(f.Name, end) {
				return all(t, files)
			}
		}
	}
	require.Fail(t, "no file "+end, archive)
	return nil
}

func all(t *testing.T, r io.Reader) []byte {
	t.Helper()
	data, err := io.ReadAll(r)
	require.NoError(t, err)
	return data
}

// released returns the archive and the wheel of a platform, and the name of the program in both.
func released(t *testing.T, platform string) (archive, wheel, program string) {
	t.Helper()
	dir, version := published(t)
	system, arch, _ := strings.Cut(platform, "/")
	archive, program = filepath.Join(dir, "dlpackgen_"+version+"_"+system+"_"+arch+".tar.gz"), "dlpackgen"
	if system == "windows" {
		archive, program = mutant.Once(t, archive, ".tar.gz", ".zip"), "dlpackgen.exe"
	}
	wheels, err := filepath.Glob(filepath.Join(dir, "*.whl"))
	require.NoError(t, err)
	for _, wheel := range wheels {
		if platformOfTag(tags(wheel)[0]) == platform {
			return archive, wheel, program
		}
	}
	require.Fail(t, "no wheel for "+platform)
	return "", "", ""
}

// tags returns the tags in the name of a wheel.
func tags(wheel string) []string {
	name := strings.TrimSuffix(filepath.Base(wheel), ".whl")
	return strings.Split(name[strings.LastIndex(name, "-")+1:], ".")
}

// The program in each archive and wheel is for its platform, and static on Linux. pip accepts the
// wheel on each platform that its name lists.
func TestProgramsAreThoseOfTheirPlatforms(t *testing.T) {
	heavy(t)
	for _, platform := range platforms() {
		t.Run(platform, func(t *testing.T) {
			archive, wheel, name := released(t, platform)
			program := archived(t, archive, "/"+name)
			assert.Equal(t, platform, platformOf(program))
			if strings.HasPrefix(platform, "linux/") {
				assert.Empty(t, needs(t, program))
			}
			info, err := buildinfo.Read(bytes.NewReader(program))
			require.NoError(t, err)
			settings := map[string]string{}
			for _, s := range info.Settings {
				settings[s.Key] = s.Value
			}
			assert.Equal(t, platform, settings["GOOS"]+"/"+settings["GOARCH"])
			assert.Equal(t, "0", settings["CGO_ENABLED"])
			assert.True(t, bytes.Equal(program, archived(t, wheel, ".data/scripts/"+name)),
				"both have the same program")

			var lines []string
			for _, tag := range tags(wheel) {
				assert.Equal(t, platform, platformOfTag(tag))
				lines = append(lines, "Tag: py3-none-"+tag)
			}
			about := string(archived(t, wheel, ".dist-info/WHEEL"))
			assert.Contains(t, about, "\n"+strings.Join(lines, "\n")+"\n")
			assert.Len(t, lines, strings.Count(about, "\nTag: "))
			accepted(t, wheel, name, program)
		})
	}
}

// accepted makes pip install a wheel for each of its tags, from a folder with all wheels. A
// platform without a wheel is rejected.
func accepted(t *testing.T, wheel, name string, program []byte) {
	t.Helper()
	target := t.TempDir()
	want, argv := "", []string{testtool.RequirePython(t), filepath.Join(here(t), "testdata/tags.py"), target}
	for _, tag := range tags(wheel) {
		argv, want = append(argv, tag), want+"accepted "+tag+"\n"
	}
	out := run(t, target, offline(filepath.Dir(wheel)), append(argv, "win32")...)
	assert.Equal(t, want+"rejected win32\n", out)
	for _, tag := range tags(wheel) {
		assert.True(t, read(t, filepath.Join(target, tag, "bin", name)) == string(program), tag)
	}
}

// The inspection of programs returns different results for other programs.
func TestOtherProgramsAreNoticed(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("needs a program of Linux")
	}
	shell, err := exec.LookPath("sh")
	require.NoError(t, err)
	data, err := os.ReadFile(shell)
	require.NoError(t, err)
	assert.Equal(t, "linux/"+runtime.GOARCH, platformOf(data))
	found := strings.Join(needs(t, data), "\n")
	assert.Contains(t, found, "libc.", "a program with libraries")
	assert.Contains(t, found, "loader /", "a program with an interpreter")

	foreign := bytes.Clone(data)
	foreign[0x12], foreign[0x13] = byte(elf.EM_S390), 0 // e_machine
	assert.Equal(t, "linux/", platformOf(foreign))
	assert.Equal(t, "no program", platformOf(data[:3]))
	for tag, want := range map[string]string{"win32": "no tag: win32",
		"manylinux2014_i686": "no tag: manylinux2014_i686",
		"macosx_12_0_arm64":  "darwin/arm64", "musllinux_1_1_aarch64": "linux/arm64"} {
		assert.Equal(t, want, platformOfTag(tag))
	}
}
