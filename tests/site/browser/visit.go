package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// look is a window configuration.
type look struct {
	name          string
	width, height int64
	scheme        string
}

var looks = []look{
	{"desk", 1280, 900, "light"},
	{"desk-dark", 1280, 900, "dark"},
	{"phone", 390, 844, "light"},
}

// visit is the result of a visit to a page.
type visit struct {
	URL, Look  string
	Console    []string // errors of scripts and of loading
	Foreign    []string // addresses outside of the page's folder that it loads
	Violations []string // of axe's rules
	Overflow   int      // pixels by which the page exceeds its window
	Stops      int      // different elements that the Tab key reaches, of the first 40
	Text       int      // visible characters of the article without scripts
	Links      int      // visible links of the navigation without scripts
	Picture    string
}

// idle waits until the page has loaded, and its scripts have nothing to do.
var idle = chromedp.Evaluate[chromedp.Void](`new Promise(done => {
	const rest = () => requestIdleCallback(() => requestAnimationFrame(() => requestIdleCallback(() => done())));
	document.readyState === "complete" ? rest() : addEventListener("load", rest); })`, chromedp.EvalAwaitPromise)

// visit opens a page in a new tab.
func (l look) visit(ctx context.Context, url, axe, folder string) (*visit, error) {
	// The theme stores the colours in a profile, so each look has its own.
	tab, cancel := chromedp.NewContext(ctx, chromedp.WithNewBrowserContext())
	defer cancel()
	v := &visit{URL: url, Look: l.name, Picture: filepath.Join(folder, pictureName(url, l.name))}
	console := chromedp.Console(tab)
	err := chromedp.Do(tab,
		l.emulate(),
		chromedp.Navigate(url),
		idle, // the theme's scripts change the page after loading
		v.photograph(),
		into(&v.Overflow, chromedp.Evaluate[int](
			"document.documentElement.scrollWidth - document.documentElement.clientWidth")),
		into(&v.Foreign, chromedp.Evaluate[[]string](foreign)),
		chromedp.Evaluate[chromedp.Void](axe),
		into(&v.Violations, chromedp.Evaluate[[]string](violations, chromedp.EvalAwaitPromise)),
		v.tabStops(),
		chromedp.Evaluate[chromedp.Void](`console.log("`+lastMessage+`")`),
	)
	if err != nil {
		return nil, fmt.Errorf("%s (%s): %w", url, l.name, err)
	}
	for m, err := range console {
		switch {
		case err != nil:
			return nil, fmt.Errorf("%s (%s): reading the console: %w", url, l.name, err)
		case strings.Contains(m.String(), lastMessage):
			return v, nil
		case m.IsException() || m.Type == "error":
			v.Console = append(v.Console, m.String()+" ("+m.URL+")")
		}
	}
	return nil, fmt.Errorf("%s (%s): the console ended early", url, l.name)
}

// lastMessage reads all messages of a page: unread ones would be dropped at the end of the tab.
const lastMessage = "dlpackgen: the visit ends"

// scriptless is the look of a page in a browser without scripts.
const scriptless = "no-scripts"

// read opens a page without scripts, and measures its readable contents.
func read(ctx context.Context, url, folder string) (*visit, error) {
	tab, cancel := chromedp.NewContext(ctx, chromedp.WithNewBrowserContext())
	defer cancel()
	v := &visit{URL: url, Look: scriptless, Picture: filepath.Join(folder, pictureName(url, scriptless))}
	off := emulation.SetScriptExecutionDisabledParams{Value: true}
	err := chromedp.Do(tab,
		chromedp.EmulateViewport(1280, 900),
		chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
			_, err := cdp.Call(ctx, t, emulation.SetScriptExecutionDisabled, off)
			return err
		}),
		chromedp.Navigate(url),
		v.photograph(),
		into(&v.Text, chromedp.Evaluate[int](`document.querySelector("article").innerText.length`)),
		into(&v.Links, chromedp.Evaluate[int](
			`[...document.querySelectorAll("nav a")].filter(a => a.checkVisibility()).length`)),
	)
	if err != nil {
		return nil, fmt.Errorf("%s (%s): %w", url, scriptless, err)
	}
	return v, nil
}

func (l look) emulate() chromedp.Action[chromedp.Void] {
	var options []chromedp.EmulateViewportOption
	if l.name == "phone" {
		options = append(options, chromedp.EmulateMobile)
	}
	scheme := emulation.SetEmulatedMediaParams{
		Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: l.scheme}}}
	return chromedp.Steps(
		chromedp.EmulateViewport(l.width, l.height, options...),
		chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
			_, err := cdp.Call(ctx, t, emulation.SetEmulatedMedia, scheme)
			return err
		}))
}

// into stores the result of an action.
func into[T any](value *T, a chromedp.Action[T]) chromedp.Action[chromedp.Void] {
	return chromedp.Func(func(ctx context.Context, t *chromedp.Target) (err error) {
		*value, err = a(ctx, t)
		return err
	})
}

func pictureName(url, look string) string {
	name := strings.TrimSuffix(url[strings.Index(url, "/html/")+len("/html/"):], ".html")
	return strings.ReplaceAll(name, "/", "-") + "-" + look + ".png"
}

func (v *visit) photograph() chromedp.Action[chromedp.Void] {
	return chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		picture, err := chromedp.CaptureScreenshot()(ctx, t)
		if err != nil {
			return err
		}
		return os.WriteFile(v.Picture, picture, 0o644)
	})
}

// foreign lists loaded addresses, including those loaded by scripts and styles and failed ones.
const foreign = `performance.getEntriesByType("resource").map(e => e.name).filter(n => /^(https?|wss?):/.test(n))`

// violations runs axe-core, and names each violated rule with the first element. Without preload:
// false, axe-core would load the styles again, which pages on the disk must not.
const violations = `axe.run(document,
		{preload: false, runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "best-practice"]})
	.then(r => r.violations.map(v => v.id + ": " + v.nodes.length + " x " + v.nodes[0].html.slice(0, 200)))`

// reached marks the focused element, and reports whether it was unmarked.
const reached = `(() => { const e = document.activeElement; if (e === document.body || e.dataset.reached) return 0;
	e.dataset.reached = "1"; return 1; })()`

// tabStops presses Tab 40 times, and counts the different focused elements.
func (v *visit) tabStops() chromedp.Action[chromedp.Void] {
	return chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		for range 40 {
			if _, err := chromedp.KeyEvent(kb.Tab)(ctx, t); err != nil {
				return err
			}
			fresh, err := chromedp.Evaluate[int](reached)(ctx, t)
			if err != nil {
				return err
			}
			v.Stops += fresh
		}
		return nil
	})
}

// results are what the search of a page found, the best page first.
type results struct {
	Search string
	Pages  [][]string // the links of each page, to the page and to its sections
}

// links returns the links of each result.
const links = `[...document.querySelectorAll(".md-search-result__item")].map(item =>
	[...item.querySelectorAll("a")].map(a => a.href))`

// query is the field of the search.
const query = `input[data-md-component="search-query"]`

// emptied clears the search, as its reset button does, and reports whether the results are gone.
const emptied = `(() => { const field = document.querySelector('` + query + `');
	if (field.value) { field.value = ""; field.dispatchEvent(new Event("keyup")); }
	return document.querySelectorAll(".md-search-result__item").length === 0; })()`

// entered sets the text of the search, without an event: the theme searches after each key.
const entered = "document.querySelector('" + query + "').value = %q"

// search types texts into the search of a page, one after the other: a page reads the index only
// once.
func search(ctx context.Context, url string, texts []string) (all []*results, err error) {
	tab, cancel := chromedp.NewContext(ctx)
	defer cancel()
	if err := chromedp.Do(tab, chromedp.EmulateViewport(1280, 900), chromedp.Navigate(url)); err != nil {
		return nil, err
	}
	for _, text := range texts {
		found, err := answer(tab, text)
		if err != nil {
			return nil, fmt.Errorf("search for %q: %w", text, err)
		}
		all = append(all, found)
	}
	return all, nil
}

func answer(tab context.Context, text string) (*results, error) {
	most, last := text[:len(text)-1], text[len(text)-1:]
	err := chromedp.Do(tab,
		into(new(bool), chromedp.Poll[bool](emptied, chromedp.WithPollingInterval(100*time.Millisecond))),
		chromedp.Evaluate[chromedp.Void](fmt.Sprintf(entered, most)),
		chromedp.SendKeys(query, last))
	if err != nil {
		return nil, err
	}
	if _, err := chromedp.Run(tab, chromedp.Nodes(".md-search-result__item")); err != nil {
		return nil, err
	}
	found := &results{Search: text} // all results of one key, after the first of them
	return found, chromedp.Do(tab, idle, into(&found.Pages, chromedp.Evaluate[[][]string](links)))
}
