package tree

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/dlpackgen/dlpackgen/internal/mutant"
)

// The lock's format is a contract: other tools read it, and people merge it.
func TestLockText(t *testing.T) {
	dir := t.TempDir()
	req := request(dir,
		target("go", "gen/go", map[string]string{"x.go": "package x\r\n"}),
		target("c", "gen/c", map[string]string{"b file.h": "b\n", "a.h": "a\n"}))
	generated(t, req)
	want := thisHead +
		"c 1.3 " + specSum + " 87428fc522803d31065e7bce3cf03fe475096631e5e07bbd7a0fde60c4cf25c7 gen/c/a.h\n" +
		"c 1.3 " + specSum + " 0263829989b6fd954f72baaf2fc64bc2e2f01d692d4de72986ea808f6e99813f gen/c/b file.h\n" +
		"go 1.3 " + specSum + " " + sum([]byte("package x\n")) + " gen/go/x.go\n"
	assert.Equal(t, want, disked(t, dir)[DefaultLock])
	requireFine(t, req)
}

func TestLockReadsBack(t *testing.T) {
	entries := map[string]entry{"a b.h": {target: "c", release: "main", spec: specSum, sum: sum(nil), path: "a b.h"}}
	devel := Tool{Version: "devel", Digest: "ab"}
	rec, err := parse(lockMark, "x.lock", formatLock(devel, entries))
	require.NoError(t, err)
	assert.Equal(t, devel, rec.tool)
	assert.Equal(t, entries["a b.h"], rec.changes["a b.h"].entry)

	c := change{entry: entries["a b.h"], old: none}
	rec, err = parse(journalMark, "x.journal", formatJournal(thisTool, []change{c}))
	require.NoError(t, err)
	assert.Equal(t, map[string]change{"a b.h": c}, rec.changes)
	assert.Nil(t, formatLock(thisTool, nil))
}

// A CRLF checkout of the lock is the same lock.
func TestLockInCRLF(t *testing.T) {
	dir, req := oneFile(t)
	setContent(t, dir, DefaultLock, strings.ReplaceAll(disked(t, dir)[DefaultLock], "\n", "\r\n"))
	requireFine(t, req)
}

// oneFile creates a tree with one file.
func oneFile(t *testing.T) (dir string, req Request) {
	t.Helper()
	dir = t.TempDir()
	req = request(dir, target("c", "c", map[string]string{"a.h": ours("a")}))
	generated(t, req)
	return dir, req
}

func TestLockDrift(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(lock string) string
	}{
		{"missing", nil},
		{"by an older tool", func(s string) string { return mutant.Once(t, s, "0.1.0", "0.0.9") }},
		{"by another spec", func(s string) string { return mutant.Once(t, s, specSum, strings.Repeat("6", 64)) }},
		{"for another release", func(s string) string { return mutant.Once(t, s, "c 1.3", "c 1.2") }},
		{"with a file that has gone",
			func(s string) string { return s + mutant.Once(t, strings.Split(s, "\n")[1], "a.h", "b.h") + "\n" }},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir, req := oneFile(t)
			good := disked(t, dir)
			if c.change == nil {
				remove(t, dir, DefaultLock)
			} else {
				setContent(t, dir, DefaultLock, c.change(good[DefaultLock]))
			}
			report, err := Check(req)
			require.NoError(t, err)
			assert.True(t, report.Drift())
			it, ok := itemAt(report, DefaultLock)
			require.True(t, ok)
			assert.Equal(t, LockOutdated, it.State)
			assert.Equal(t, good[DefaultLock], string(it.New))
			when := longAgo(t, dir)
			generated(t, req)
			assert.Equal(t, good, disked(t, dir))
			assert.Equal(t, when, mtime(t, dir, "c/a.h"))
		})
	}
}

func TestNothingToDoTouchesNothing(t *testing.T) {
	dir, req := oneFile(t)
	when := longAgo(t, dir)
	report := generated(t, req)
	assert.Equal(t, []Item{{Path: "c/a.h", Target: "c"}}, report.Items)
	assert.Equal(t, when, mtime(t, dir, "c/a.h"))
	assert.Equal(t, when, mtime(t, dir, DefaultLock))
}

func TestNewerLock(t *testing.T) {
	for _, c := range []struct{ head, hint string }{
		{"dlpackgen-lock 2 v0.1.1 0123456789abcdef", "cmd/dlpackgen@v0.1.1"},
		{"dlpackgen-lock 2 v0.1.1-0.20270102030405-abcdefabcdef ab",
			"cmd/dlpackgen@v0.1.1-0.20270102030405-abcdefabcdef"},
		{"dlpackgen-lock 2 v1.0.0 ab", "cmd/dlpackgen@v1.0.0"},
		{"dlpackgen-lock 3 v0.1.0 of a form we do not know", "cmd/dlpackgen@latest"},
	} {
		t.Run(c.head, func(t *testing.T) {
			dir, req := oneFile(t)
			_, rest, _ := strings.Cut(disked(t, dir)[DefaultLock], "\n")
			setContent(t, dir, DefaultLock, c.head+"\n"+rest)
			setContent(t, dir, "c/a.h", "x")
			before := disked(t, dir)
			for name, run := range verbs {
				_, err := run(forced(req))
				out := requireKind(t, err, KindNewer)
				assert.Equal(t, 2, out.ExitCode(), name)
				assert.Contains(t, out.Findings[0].Hint, "go install github.com/dlpackgen/dlpackgen/"+c.hint, name)
				assert.Equal(t, filepath.ToSlash(filepath.Join(dir, DefaultLock))+":1:1", out.Findings[0].Pos.String())
			}
			assert.Equal(t, before, disked(t, dir))
		})
	}
}

// verbs are all entry points of this package.
var verbs = map[string]func(Request) (*Report, error){
	"check":    Check,
	"generate": func(req Request) (*Report, error) { return Generate(req, false) },
	"dry run":  func(req Request) (*Report, error) { return Generate(req, true) },
	"clean":    func(req Request) (*Report, error) { return Clean(req, false) },
}

func TestWhichToolIsNewer(t *testing.T) {
	tool := func(version string) Tool { return Tool{Version: version, Digest: "ab"} }
	for _, pair := range [][2]string{{"v0.1.0", "v0.1.0"}, {"v0.1.9", "v0.1.10"}, {"v1.9.9", "v2.0.0"},
		{"v0.0.0-20260102030405-abcdefabcdef", "v0.1.0"},
		{"v1.0.0-rc.1", "v1.0.0"}, {"v99.0.0", "devel"}, {"devel", "v99.0.0"}, {"devel", "devel"}} {
		assert.False(t, tool(pair[0]).newer(tool(pair[1])), "%v", pair)
	}
	assert.True(t, tool("v0.1.10").newer(tool("v0.1.9")))
}

// A different build of one version, or a build without a version, does not change a lock while its
// files are equal, and writes its name once they differ.
func TestAnotherBuildOfTheTool(t *testing.T) {
	for _, other := range []Tool{{Version: "v0.1.0", Digest: "fedcba9876543210"},
		{Version: "devel", Digest: "0123456789abcdef"}} {
		dir, req := oneFile(t)
		lock := disked(t, dir)[DefaultLock]
		req.Tool = other
		report, err := Check(req)
		require.NoError(t, err)
		assert.Equal(t, thisTool, report.Writer, "for check to report")
		assert.False(t, report.Drift())
		generated(t, req)
		assert.Equal(t, lock, disked(t, dir)[DefaultLock])

		req.Targets[0].Files[0].Data = []byte(ours("b"))
		report, err = Check(req)
		require.NoError(t, err)
		assert.True(t, report.Drift())
		generated(t, req)
		assert.True(t, strings.HasPrefix(disked(t, dir)[DefaultLock], header(lockMark, other)))
		requireFine(t, req)
	}
}

// badRecords are locks that must be rejected; @ represents a valid line.
var badRecords = []struct {
	name, text string
	kind       Kind
	pos        string
	says       string
}{
	{"empty", "", KindInvalid, ":1:1", "dlpackgen-lock 2"},
	{"another file", "{}\n", KindInvalid, ":1:1", "found \"{}\""},
	{"no version", "dlpackgen-lock 1\n", KindInvalid, ":1:1", "a tool's version and digest"},
	{"a bad version", "dlpackgen-lock 1 latest\n", KindInvalid, ":1:1", "a tool's version and digest"},
	{"no digest", "dlpackgen-lock 2 v0.1.0\n", KindInvalid, ":1:1", "a tool's version and digest"},
	{"an empty digest", "dlpackgen-lock 2 v0.1.0 \n", KindInvalid, ":1:1", "a tool's version and digest"},
	{"a bad digest", "dlpackgen-lock 2 v0.1.0 xyz\n", KindInvalid, ":1:1", "a tool's version and digest"},
	{"one word more", "dlpackgen-lock 2 v0.1.0 ab ab\n", KindInvalid, ":1:1", "a tool's version and digest"},
	{"the format before", "dlpackgen-lock 1 0.1.0\n", KindInvalid, ":1:1", "a tool's version and digest"},
	{"a bad format", "dlpackgen-lock one 0.1.0\n", KindInvalid, ":1:1", "a tool's version and digest"},
	{"an old format", "dlpackgen-lock 0 0.1.0\n", KindInvalid, ":1:1", "a tool's version and digest"},
	{"a merge conflict", "dlpackgen-lock 2 v0.1.0 ab\n<<<<<<< HEAD\n@", KindInvalid, ":2:1", "found \"<<<<<<< HEAD\""},
	{"cut off", "dlpackgen-lock 2 v0.1.0 ab\n@c 1.3 " + "5555", KindInvalid, ":3:1", "middle of a line"},
	{"a short line", "dlpackgen-lock 2 v0.1.0 ab\nc 1.3 c/a.h\n", KindInvalid, ":2:1",
		"expected \"target release spec-sha256 sha256 path\""},
	{"an empty line", "dlpackgen-lock 2 v0.1.0 ab\n\n", KindInvalid, ":2:1", "expected"},
	{"a bad hash", "dlpackgen-lock 2 v0.1.0 ab\nc 1.3 " + specSum + " XYZ c/a.h\n", KindInvalid, ":2:1", "expected"},
	{"a hash of no file", "dlpackgen-lock 2 v0.1.0 ab\nc 1.3 " + specSum + " - c/a.h\n", KindInvalid, ":2:1",
		"expected"},
	{"a file twice", "dlpackgen-lock 2 v0.1.0 ab\n@@", KindInvalid, ":3:1", "listed twice"},
	{"dot dot", "dlpackgen-lock 2 v0.1.0 ab\nc 1.3 " + specSum + " " + specSum + " ../x.h\n", KindEscape, ":2:1", ".."},
	{"dot dot inside", "dlpackgen-lock 2 v0.1.0 ab\nc 1.3 " + specSum + " " + specSum + " c/../../x.h\n", KindEscape,
		":2:1", ".."},
	{"absolute", "dlpackgen-lock 2 v0.1.0 ab\nc 1.3 " + specSum + " " + specSum + " /etc/passwd\n", KindEscape, ":2:1",
		"must be relative"},
	{"a backslash", "dlpackgen-lock 2 v0.1.0 ab\nc 1.3 " + specSum + " " + specSum + " c\\..\\x.h\n", KindEscape,
		":2:1",
		"backslash"},
	{"NUL", "dlpackgen-lock 2 v0.1.0 ab\nc 1.3 " + specSum + " " + specSum + " a\x00.h\n", KindEscape, ":2:1",
		"character"},
	{"not UTF-8", "dlpackgen-lock 2 v0.1.0 ab\nc 1.3 " + specSum + " " + specSum + " a\xff.h\n", KindEscape, ":2:1",
		"UTF-8"},
	{"not clean", "dlpackgen-lock 2 v0.1.0 ab\nc 1.3 " + specSum + " " + specSum + " c//a.h\n", KindInvalid, ":2:1",
		"not a path"},
	{"a temporary", "dlpackgen-lock 2 v0.1.0 ab\nc 1.3 " + specSum + " " + specSum + " " + tempName("c/a.h") + "\n",
		KindInvalid, ":2:1", "not a path"},
	{"huge", "dlpackgen-lock 2 v0.1.0 ab\n" + strings.Repeat("x", maxRecord), KindInvalid, "", "larger than 16 MiB"},
}

func TestBadLock(t *testing.T) {
	for _, c := range badRecords {
		t.Run(c.name, func(t *testing.T) {
			dir, req := oneFile(t)
			_, line, _ := strings.Cut(disked(t, dir)[DefaultLock], "\n")
			setContent(t, dir, DefaultLock, strings.ReplaceAll(c.text, "@", line))
			outside := filepath.Join(filepath.Dir(dir), "x.h")
			require.NoError(t, os.WriteFile(outside, []byte(ours("outside")), 0o644))
			defer os.Remove(outside)
			before := disked(t, dir)
			for name, run := range verbs {
				_, err := run(req)
				out := requireKind(t, err, c.kind)
				assert.Equal(t, 2, out.ExitCode(), name)
				assert.Contains(t, out.Findings[0].Text, c.says)
				assert.True(t, strings.HasSuffix(out.Findings[0].Pos.String(), DefaultLock+c.pos), "%s",
					out.Findings[0].Pos)
			}
			assert.Equal(t, before, disked(t, dir))
			assert.FileExists(t, outside)
		})
	}
}

func TestBadJournal(t *testing.T) {
	for _, c := range badRecords {
		t.Run(c.name, func(t *testing.T) {
			line := "c 1.3 " + specSum + " - " + specSum + " c/a.h\n"
			text := strings.ReplaceAll(c.text, "@", line)
			text = strings.ReplaceAll(text, specSum+" "+specSum, specSum+" - "+specSum)
			text = strings.ReplaceAll(text, lockMark, journalMark)
			dir, req := oneFile(t)
			setContent(t, dir, ".dlpackgen.journal", text)
			if c.name == "a hash of no file" {
				text = mutant.Once(t, text, " - ", " - 1 ")
				setContent(t, dir, ".dlpackgen.journal", text)
			}
			before := disked(t, dir)
			_, err := Generate(req, false)
			requireKind(t, err, c.kind)
			assert.NotContains(t, hintOf(err), "version control", "which never has a journal")
			assert.Equal(t, before, disked(t, dir))
		})
	}
}

func hintOf(err error) string {
	var e *Error
	if !errors.As(err, &e) {
		return ""
	}
	return e.Findings[0].Hint
}

// Many invalid lines usually have one cause, so only the first few are reported.
func TestBadLinesAreCapped(t *testing.T) {
	_, err := parse(lockMark, "x.lock", []byte("dlpackgen-lock 2 v0.1.0 ab\n"+strings.Repeat("bad\n", 1000)))
	assert.Len(t, requireKind(t, err, KindInvalid).Findings, maxFindings)
}

// FuzzParse parses locks and journals: accepted text must be safe to act upon, and must be equal
// after formatting and parsing.
func FuzzParse(f *testing.F) {
	for _, c := range badRecords {
		if len(c.text) < 1000 {
			f.Add(c.text)
			f.Add(strings.ReplaceAll(c.text, lockMark, journalMark))
		}
	}
	f.Add(thisHead + "c 1.3 " + specSum + " " + specSum + " c/a.h\n")
	f.Add("dlpackgen-lock 2 v0.1.0 ab\nc 1.3 " + specSum + " " + specSum + " c/a.h\n")
	f.Fuzz(func(t *testing.T, text string) {
		for _, mark := range []string{lockMark, journalMark} {
			rec, err := parse(mark, "x", []byte(text))
			if err != nil {
				continue
			}
			entries := map[string]entry{}
			for p, c := range rec.changes {
				require.True(t, filepath.IsLocal(p))
				require.False(t, isTemp(p))
				entries[p] = c.entry
			}
			if mark == lockMark && len(entries) > 0 && rec.tool.Digest != "" {
				again, err := parse(mark, "x", formatLock(rec.tool, entries))
				require.NoError(t, err)
				require.Equal(t, rec, again)
			}
		}
	})
}
