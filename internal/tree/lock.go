package tree

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/mod/semver"

	"github.com/dlpackgen/dlpackgen/internal/diag"
)

// Locks and journals are untrusted input: they come from a repository, and may contain merge
// conflicts.
const (
	lockMark    = "dlpackgen-lock"
	journalMark = "dlpackgen-journal"
	lockFormat  = 2
	maxRecord   = 16 << 20 // bytes of a lock or journal: some 100,000 files
	maxFindings = 10       // of one file; the rest is the same mistake again
)

// none is the hash of a file that does not exist.
const none = "-"

// entry is one line of a lock: a file, its target and its release.
type entry struct {
	target  string
	release string
	spec    string // sha256 of the release's spec
	sum     string // sha256 of the file, after CRLF to LF
	path    string // slashes, from the output directory
}

// change is one line of a journal: the new entry, and the hash of the old file.
type change struct {
	entry        // sum is none if the file is deleted
	old   string // none if there was no file
}

// sum returns the hash of a file for locks, which is the same for a checkout with CRLF.
func sum(data []byte) string {
	h := sha256.Sum256(toLF(data))
	return hex.EncodeToString(h[:])
}

func toLF(data []byte) []byte {
	if !bytes.Contains(data, []byte("\r\n")) {
		return data
	}
	return bytes.ReplaceAll(data, []byte("\r\n"), []byte("\n"))
}

// header writes the first line of a lock or a journal.
func header(mark string, tool Tool) string {
	return fmt.Sprintf("%s %d %s %s\n", mark, lockFormat, tool.Version, tool.Digest)
}

// formatLock returns the text of a lock, or nothing without entries.
func formatLock(tool Tool, entries map[string]entry) []byte {
	if len(entries) == 0 {
		return nil
	}
	var b bytes.Buffer
	b.WriteString(header(lockMark, tool))
	for _, p := range slices.Sorted(maps.Keys(entries)) {
		e := entries[p]
		fmt.Fprintf(&b, "%s %s %s %s %s\n", e.target, e.release, e.spec, e.sum, e.path)
	}
	return b.Bytes()
}

// formatJournal returns the text of a journal: the columns of a lock, with the old hash before the
// new one.
func formatJournal(tool Tool, changes []change) []byte {
	var b bytes.Buffer
	b.WriteString(header(journalMark, tool))
	for _, c := range changes {
		fmt.Fprintf(&b, "%s %s %s %s %s %s\n", c.target, c.release, c.spec, c.old, c.sum, c.path)
	}
	return b.Bytes()
}

// record is a parsed lock or journal.
type record struct {
	tool    Tool // that wrote it
	changes map[string]change
}

// parse parses a lock or a journal, depending on mark. file is its name for findings. A record of a
// newer format is an error of KindNewer, because it cannot be parsed.
func parse(mark, file string, data []byte) (record, error) {
	p := &parser{mark: mark, file: file, out: record{changes: map[string]change{}}}
	if len(data) > maxRecord {
		return p.out, fail(KindInvalid, diag.Pos{File: file}, p.hint(), "the file is larger than %d MiB",
			maxRecord>>20)
	}
	head, rest, _ := strings.Cut(string(toLF(data)), "\n")
	if err := p.header(head); err != nil {
		return p.out, err
	}
	p.lines(rest)
	if len(p.findings) > 0 {
		return p.out, &Error{Kind: p.kind, Findings: p.findings}
	}
	return p.out, nil
}

// The hints for a record that cannot be parsed. Only the lock is in version control.
const (
	badJournalHint = "delete it and run `dlpackgen generate`, with --force if that finds edited files"
	badLockHint    = "restore the file from version control; or " + badJournalHint
)

func (p *parser) hint() string {
	if p.mark == journalMark {
		return badJournalHint
	}
	return badLockHint
}

type parser struct {
	mark, file string
	out        record
	kind       Kind
	findings   []diag.Diagnostic
}

// header parses "MARK FORMAT VERSION DIGEST". No release wrote an older format.
func (p *parser) header(line string) error {
	pos := diag.Pos{File: p.file, Line: 1, Col: 1}
	bad := fail(KindInvalid, pos, p.hint(), "expected \"%s %d\" and a tool's version and digest, found %q",
		p.mark, lockFormat, clip(line))
	fields := strings.Split(line, " ")
	if len(fields) < 2 || fields[0] != p.mark {
		return bad
	}
	if format, err := strconv.Atoi(fields[1]); err == nil && format > lockFormat {
		return fail(KindNewer, pos, installHint("latest"), "a newer dlpackgen wrote this file (format %d)", format)
	}
	if fields[1] != strconv.Itoa(lockFormat) || len(fields) != 4 {
		return bad
	}
	p.out.tool = Tool{Version: fields[2], Digest: fields[3]}
	if !p.out.tool.isTool() {
		return bad
	}
	return nil
}

// lines parses the lines after the header.
func (p *parser) lines(text string) {
	for n := 2; text != "" && len(p.findings) < maxFindings; n++ {
		line, rest, whole := strings.Cut(text, "\n")
		text = rest
		c, kind, bad := p.line(line)
		if !whole {
			kind, bad = KindInvalid, "the file ends in the middle of a line"
		}
		if _, twice := p.out.changes[c.path]; bad == "" && twice {
			kind, bad = KindInvalid, fmt.Sprintf("%s is listed twice", c.path)
		}
		if bad != "" {
			p.kind = cmp.Or(p.kind, kind)
			p.findings = append(p.findings,
				finding(p.kind, diag.Pos{File: p.file, Line: n, Col: 1}, p.hint(), "%s", bad))
			continue
		}
		p.out.changes[c.path] = c
	}
}

// The columns of a line, for findings.
var (
	lockForm    = []string{"target", "release", "spec-sha256", "sha256", "path"}
	journalForm = []string{"target", "release", "spec-sha256", "old-sha256", "new-sha256", "path"}
)

func (p *parser) form() []string {
	if p.mark == journalMark {
		return journalForm
	}
	return lockForm
}

// line parses one line. For an invalid line, it returns what is wrong.
func (p *parser) line(line string) (c change, kind Kind, bad string) {
	form := p.form()
	f := strings.SplitN(line, " ", len(form))
	if len(f) == len(form) {
		hashes, name := f[3:len(f)-1], f[len(f)-1]
		c = change{entry: entry{target: f[0], release: f[1], spec: f[2], sum: hashes[len(hashes)-1], path: name},
			old: hashes[0]}
	}
	if !isWord(c.target) || !isWord(c.release) || !isSum(c.spec) || !p.isHash(c.sum) || !p.isHash(c.old) {
		return c, KindInvalid, fmt.Sprintf("expected %q, found %q", strings.Join(form, " "), clip(line))
	}
	if bad := badPath(c.path); bad != "" {
		return c, KindEscape, fmt.Sprintf("%s: %q", bad, clip(c.path))
	}
	if path.Clean(c.path) != c.path || isTemp(c.path) {
		return c, KindInvalid, fmt.Sprintf("%q is not a path that dlpackgen writes", clip(c.path))
	}
	return c, 0, ""
}

// isHash accepts the hash of a file, and in a journal also that of no file.
func (p *parser) isHash(s string) bool {
	return isSum(s) || p.mark == journalMark && s == none
}

func isSum(s string) bool { return len(s) == 2*sha256.Size && isHex(s) }

// isWord reports whether a name of a target or release is valid in a line.
func isWord(s string) bool {
	return s != "" && !strings.ContainsFunc(s, func(r rune) bool { return r <= ' ' || r >= 0x7f })
}

// clip shortens a long text from an untrusted file.
func clip(s string) string {
	if len(s) <= 80 {
		return s
	}
	return strings.ToValidUTF8(s[:80], "") + "..."
}

// Tool identifies a build of dlpackgen.
type Tool struct {
	Version string // of a module, such as v0.1.0; or anything else for a build from a checkout, which has no order
	Digest  string // of everything that determines the output, in hex digits
}

// isTool matches valid versions and digests for the first line of records.
func (t Tool) isTool() bool { return isWord(t.Version) && t.Digest != "" && isHex(t.Digest) }

// newer reports whether t has a newer version. A build from a checkout is neither older nor newer
// than others.
func (t Tool) newer(than Tool) bool {
	return semver.IsValid(t.Version) && semver.IsValid(than.Version) && semver.Compare(t.Version, than.Version) > 0
}

// installHint returns a hint to install the version that wrote a lock.
func installHint(version string) string {
	return "go install github.com/dlpackgen/dlpackgen/cmd/dlpackgen@" + version
}
