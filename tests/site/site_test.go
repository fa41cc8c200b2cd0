// Package site tests the documentation site: its pages, their links and sizes, and their display in
// headless Chromium. It does not check the text.
package site

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/dlpackgen/dlpackgen/internal/golden"
	"github.com/dlpackgen/dlpackgen/internal/testtool"
	"github.com/dlpackgen/dlpackgen/internal/tier"
)

// built builds the site in a folder of the test, and returns the HTML folder.
func built(t *testing.T) string {
	t.Helper()
	root := golden.Root(t)
	if _, err := os.Stat(filepath.Join(root, ".cache/docs/bin/mkdocs")); err != nil {
		t.Skip("needs MkDocs in .cache/docs: make setup")
	}
	out := t.TempDir()
	cmd := exec.Command("go", "run", "./tools/site", "-out", out)
	cmd.Dir = root
	printed, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", printed)
	return filepath.Join(out, "html")
}

// TestSite builds the site once: MkDocs reports missing links, anchors and pages.
func TestSite(t *testing.T) {
	html := built(t)
	pages := readPages(t, html)
	t.Run("links", func(t *testing.T) { assert.Empty(t, brokenLinks(pages)) })
	t.Run("without scripts", func(t *testing.T) {
		for name, page := range pages {
			assert.Greater(t, len(article(page)), 100, "%s has a text in its HTML", name)
			assert.NotContains(t, string(article(page)), "```", "%s has a block that was not read as one", name)
		}
	})
	t.Run("nothing of others", func(t *testing.T) {
		for name, page := range pages {
			assert.Empty(t, foreign.FindAllString(string(page), -1), "%s loads from another server", name)
		}
	})
	t.Run("no block of code ends a list", func(t *testing.T) {
		for name, page := range pages {
			assert.NotRegexp(t, splitList, string(block.ReplaceAll(page, []byte("CODE"))),
				"%s: the numbers of the list begin again at 1", name)
		}
	})
	t.Run("tables show code as it is written", func(t *testing.T) {
		for name, page := range pages {
			for _, cell := range cell.FindAllString(string(page), -1) {
				assert.NotRegexp(t, `<code>[^<]*\\\|`, cell, name)
			}
		}
	})
	t.Run("weight", func(t *testing.T) { weigh(t, html, pages) })
	t.Run("every kind of page", func(t *testing.T) {
		for _, folder := range []string{"tutorials", "how-to", "reference", "explanation", "releases"} {
			assert.NotEmpty(t, below(pages, folder), "%s has pages", folder)
		}
	})
	t.Run("the modifiers of descriptions are one click away", func(t *testing.T) {
		assert.Contains(t, string(pages["index.html"]), `href="kernels.html#which-modifier-do-i-need"`)
	})
	t.Run("browser", func(t *testing.T) { browse(t, html, pages) })
}

// readPages returns the HTML of each path, without the page that servers show for dead links.
func readPages(t *testing.T, html string) map[string][]byte {
	t.Helper()
	pages := map[string][]byte{}
	require.NoError(t, fs.WalkDir(os.DirFS(html), ".", func(name string, _ fs.DirEntry, err error) error {
		if err == nil && path.Ext(name) == ".html" && name != "404.html" {
			pages[name], err = os.ReadFile(filepath.Join(html, name))
		}
		return err
	}))
	require.Greater(t, len(pages), 30)
	return pages
}

var (
	href = regexp.MustCompile(`\s(?:href|src)="([^"]*)"`)
	id   = regexp.MustCompile(`\sid="([^"]*)"`)
	body = regexp.MustCompile(`(?s)<article.*?</article>`)
	cell = regexp.MustCompile(`(?s)<td[^>]*>.*?</td>`)
	// A block of code, and a list that is split by blocks, which MkDocs did not read as its parts.
	block     = regexp.MustCompile(`(?s)<div class="[^"]*highlight">.*?</pre></div>`)
	splitList = regexp.MustCompile(`</ol>\s*(?:CODE\s*)+<ol>`)

	markup  = regexp.MustCompile(`(?s)<[^>]*>`)
	foreign = regexp.MustCompile(`<(?:script|img|link rel="(?:stylesheet|icon)")[^>]*(?:src|href)="https?:[^"]*"`)
)

// article is the text of a page, without its navigation and markup.
func article(page []byte) []byte {
	return bytes.TrimSpace(markup.ReplaceAll(body.Find(page), nil))
}

// brokenLinks checks the links of the HTML itself, those of generated pages and of the theme too.
func brokenLinks(pages map[string][]byte) (broken []string) {
	ids := map[string]map[string]bool{}
	for name, page := range pages {
		ids[name] = map[string]bool{"": true}
		for _, m := range id.FindAllSubmatch(page, -1) {
			ids[name][string(m[1])] = true
		}
	}
	for name, page := range pages {
		for _, m := range href.FindAllSubmatch(page, -1) {
			file, anchor, _ := strings.Cut(string(m[1]), "#")
			target := path.Join(path.Dir(name), file)
			if file == "" {
				target = name
			}
			if strings.Contains(file, ":") || path.Ext(target) != ".html" {
				continue
			}
			if anchors, found := ids[target]; !found || !anchors[anchor] {
				broken = append(broken, name+" -> "+string(m[1]))
			}
		}
	}
	return broken
}

func below(pages map[string][]byte, folder string) (names []string) {
	for name := range pages {
		if path.Dir(name) == folder {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// weigh prints the goal line of the heaviest page: its HTML, styles, scripts and pictures, as
// servers compress them. The theme also fetches the index of the search for each page, which
// browsers cache. The line states its size separately, and the limit does not apply to it.
func weigh(t *testing.T, html string, pages map[string][]byte) {
	size, heaviest := heaviestPage(t, html, pages)
	index, err := os.ReadFile(filepath.Join(html, "search/search_index.json"))
	require.NoError(t, err)
	met := map[bool]string{true: "met", false: "missed"}[size <= heaviestAllowed]
	fmt.Printf("goal site.page measured %d KB limit %d KB %s (%s, compressed; the search index adds %d KB)\n",
		size/1000, heaviestAllowed/1000, met, heaviest, compressed(t, index)/1000)
	assert.LessOrEqual(t, size, heaviestAllowed, heaviest)
}

const heaviestAllowed = 300_000

// heaviestPage returns the largest compressed size of a page with its files, and the page.
func heaviestPage(t *testing.T, html string, pages map[string][]byte) (most int, heaviest string) {
	t.Helper()
	for name, page := range pages {
		size, loaded := compressed(t, page), map[string]bool{}
		for _, m := range href.FindAllSubmatch(page, -1) {
			file := filepath.Join(html, path.Dir(name), string(m[1]))
			if kind := path.Ext(file); slices.Contains([]string{".css", ".js", ".svg", ".png"}, kind) && !loaded[file] {
				data, err := os.ReadFile(file)
				require.NoError(t, err)
				size += compressed(t, data)
				loaded[file] = true
			}
		}
		if size > most {
			most, heaviest = size, name
		}
	}
	return most, heaviest
}

// The files of a page count once each, and make it too heavy.
func TestAHeavyPageIsFound(t *testing.T) {
	html := t.TempDir()
	noise := make([]byte, heaviestAllowed)
	_, _ = rand.NewChaCha8([32]byte{}).Read(noise)
	require.NoError(t, os.WriteFile(filepath.Join(html, "a.png"), noise, 0o600))
	pages := map[string][]byte{"light.html": []byte("<p>"), "heavy.html": []byte(`<img src="a.png"><img src="a.png">`)}
	size, heaviest := heaviestPage(t, html, pages)
	assert.Equal(t, "heavy.html", heaviest)
	assert.Greater(t, size, heaviestAllowed)
	assert.Less(t, size, 2*heaviestAllowed)
}

func compressed(t *testing.T, data []byte) int {
	t.Helper()
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	_, err := w.Write(data)
	require.NoError(t, err)
	require.NoError(t, w.Close())
	return out.Len()
}

// visit is a line of tests/site/browser.
type visit struct {
	URL, Look  string
	Console    []string
	Foreign    []string
	Violations []string
	Overflow   int
	Stops      int
	Text       int
	Links      int
	Picture    string
}

// sample is the first page, which is seen in each look, and a generated one.
var sample = []string{"index.html", "reference/config.html"}

// browse opens some pages, or all in make nightly, and keeps their pictures below .cache/site.
func browse(t *testing.T, html string, pages map[string][]byte) {
	testtool.Require(t, "chromium", "chromium")
	axe, err := filepath.Glob(filepath.Join(golden.Root(t),
		".cache/docs/lib/*/site-packages/axe_playwright_python/axe.min.js"))
	require.NoError(t, err)
	require.Len(t, axe, 1, "axe-core of tests/requirements-docs.txt")
	pictures := t.TempDir()
	var searches []string
	for _, q := range questions {
		searches = append(searches, q.search)
	}
	argv := []string{"run", ".", "-axe", axe[0], "-screenshots", pictures, "-searches", strings.Join(searches, "|")}
	names := slices.Clone(sample)
	if tier.IsNightly() {
		argv = append(argv, "-all")
		for _, name := range slices.Sorted(maps.Keys(pages)) {
			if !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	require.NoError(t, os.WriteFile(filepath.Join(html, brokenPage), []byte(broken), 0o600))
	for _, name := range append(names, brokenPage) {
		argv = append(argv, "file://"+filepath.Join(html, name))
	}
	cmd := exec.Command("go", argv...)
	cmd.Dir = "browser"
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	require.NoError(t, err)
	keep(t, pictures)
	answered := 0
	for line := range bytes.Lines(out) {
		if bytes.HasPrefix(line, []byte(`{"Search":`)) {
			answered += answers(t, "file://"+html+"/", line)
			continue
		}
		var v visit
		require.NoError(t, json.Unmarshal(line, &v))
		name := strings.TrimPrefix(v.URL, "file://"+html+"/")
		t.Run(name+" "+v.Look, func(t *testing.T) {
			assert.FileExists(t, v.Picture)
			if name == brokenPage {
				assert.Regexp(t, wrongIn(v.Look), strings.Join(v.problems(), "\n"))
				return
			}
			assert.Empty(t, v.problems())
		})
	}
	assert.Equal(t, len(questions), answered, "the search of a page on the disk answers each question")
}

// keep copies pictures to .cache/site. Processes do so, because Go's cache takes each file and
// folder that a test opens for an input.
func keep(t *testing.T, pictures string) {
	t.Helper()
	to := filepath.Join(golden.Root(t), ".cache/site/pictures")
	for _, argv := range [][]string{{"mkdir", "-p", to}, {"cp", "-r", pictures + "/.", to}} {
		out, err := exec.Command(argv[0], argv[1:]...).CombinedOutput()
		require.NoError(t, err, "%s", out)
	}
	t.Log("pictures:", to)
}

// questions are searches of readers who look for a modifier of a description, and the section that
// answers each. The last ones look for other pages, which the weights of pages must not hide.
var questions = []struct{ search, answer string }{
	{"two arguments same dtype", "kernels.html#types-and-values"},
	{"same shape in two arguments", "kernels.html#shapes"},
	{"result of another dtype", "kernels.html#results"},
	{"memory for a result", "kernels.html#results"},
	{"size of a result", "kernels.html#results"},
	{"range of a number", "kernels.html#types-and-values"},
	{"channels last", "kernels.html#memory-of-an-argument"},
	{"scratch memory", "kernels.html#memory-of-an-argument"},
	{"not thread-safe", "kernels.html#calls-errors-and-devices"},
	{"empty tensors", "kernels.html#shapes"},
	{"remote cache", "how-to/bazel.html#share-results-through-a-remote-cache"},
	{"exit code", "cli.html#exit-codes-and-formats"},
	{"unknown-key", "codes/1-yaml-files.html#unknown-key"},
}

// answers reports whether one of the first three pages of a search has the answer.
func answers(t *testing.T, site string, line []byte) int {
	t.Helper()
	var found struct {
		Search string
		Pages  [][]string
	}
	require.NoError(t, json.Unmarshal(line, &found))
	for _, q := range questions {
		if q.search != found.Search {
			continue
		}
		for _, page := range found.Pages[:min(3, len(found.Pages))] {
			for _, address := range page {
				if highlighted.ReplaceAllString(strings.TrimPrefix(address, site), "") == q.answer {
					return 1
				}
			}
		}
		assert.Fail(t, "the search does not lead to "+q.answer, "%s\n%s", q.search, found.Pages)
	}
	return 0
}

// highlighted is the part of a link that names the words to mark.
var highlighted = regexp.MustCompile(`\?h=[^#]*`)

// problems lists what is wrong with a page as it was seen.
func (v *visit) problems() (all []string) {
	report := func(isWrong bool, format string, args ...any) {
		if isWrong {
			all = append(all, fmt.Sprintf(format, args...))
		}
	}
	if v.Look == noScripts {
		report(v.Text <= 100, "the article has %d characters", v.Text)
		report(v.Links <= 10, "the navigation has %d links", v.Links)
		return all
	}
	for _, text := range v.Console {
		report(true, "error in the console: %s", text)
	}
	for _, address := range v.Foreign {
		report(true, "loads %s", address)
	}
	for _, rule := range v.Violations {
		report(true, "rule of axe-core: %s", rule)
	}
	report(v.Overflow > 0, "%d pixels beyond the window", v.Overflow)
	report(v.Stops < 10, "the Tab key reaches %d elements", v.Stops)
	return all
}

const noScripts = "no-scripts"

// brokenPage is opened beside the pages of the site, in the same browser, and has each problem.
const (
	brokenPage = "broken.html"
	broken     = `<!doctype html>
<html lang="en">
<head><title>Broken</title><meta name="viewport" content="width=device-width, initial-scale=1"></head>
<body style="background: #fff">
<main><article>
<h1>Broken</h1><p style="color: #bbb">Grey on white</p><div style="width: 3000px">Wide</div>
</article></main>
<script>fetch("http://127.0.0.1:9/").catch(() => 0); console.error("logged"); throw new Error("thrown")</script>
</body>
</html>
`
)

// wrongIn matches the problems of the broken page in a look.
func wrongIn(look string) string {
	if look == noScripts {
		return `^the article has \d+ characters\nthe navigation has 0 links$`
	}
	return `^error in the console: error: logged .*\nerror in the console: exception: .*thrown .*\n` +
		`(error in the console: .*\n)+loads http://127\.0\.0\.1:9/\nrule of axe-core: color-contrast: 1 x .*\n` +
		`\d{4} pixels beyond the window\nthe Tab key reaches 0 elements$`
}

func TestAListThatIsSplitIsFound(t *testing.T) {
	const list = `<ol><li>a</li></ol>`
	const shown = "\n<div class=\"language-sh highlight\"><pre><code>a</code>\n</pre></div>\n"
	assert.Regexp(t, splitList, block.ReplaceAllString(list+shown+list, "CODE"))
	assert.NotRegexp(t, splitList, block.ReplaceAllString(list+shown+"<p>b</p>"+shown+list, "CODE"))
}

func TestBrokenLinksAreFound(t *testing.T) {
	pages := map[string][]byte{
		"a.html":   []byte(`<p id="x"><a href="b/c.html#y"> <a href="#x"> <a href="https://example.com/z.html">`),
		"b/c.html": []byte(`<a href="../a.html#x"> <a href="../gone.html"> <a href="../a.html#gone">`),
	}
	broken := brokenLinks(pages)
	slices.Sort(broken)
	assert.Equal(t, []string{"a.html -> b/c.html#y", "b/c.html -> ../a.html#gone", "b/c.html -> ../gone.html"}, broken)
}
