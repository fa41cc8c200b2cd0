// Command browser opens pages of the site in headless Chromium, at the widths of a desktop and of a
// phone, in light and dark colours, and prints the problems of each, one JSON object per line. Only
// the first page is opened in each look and without scripts, unless -all is set. tests/site decides
// which problems are errors. Then it types the searches into the search of the first page, and
// prints the results of each.
//
//	browser -axe axe.min.js -screenshots FOLDER -searches 'WORDS|WORDS' URL...
package main

import (
	"context"
	"encoding/json"
	"flag"
	"log"
	"os"
	"strings"

	"github.com/chromedp/chromedp"
)

// options are the flags of a run.
type options struct {
	axe, screenshots, searches string
	all                        bool
}

func main() {
	log.SetFlags(0)
	var o options
	flag.StringVar(&o.axe, "axe", "", "the `FILE` of axe-core")
	flag.StringVar(&o.screenshots, "screenshots", "", "the `FOLDER` of the pictures")
	flag.StringVar(&o.searches, "searches", "", "`TEXTS` for the search of the first page, with | between them")
	flag.BoolVar(&o.all, "all", false, "see each page in each look, and not the first page alone")
	flag.Parse()
	if err := run(o, flag.Args()); err != nil {
		log.Fatal("browser: ", err)
	}
}

// run prints a visit for each page and look, and the results of each search.
func run(o options, urls []string) error {
	axe, err := os.ReadFile(o.axe)
	if err != nil {
		return err
	}
	ctx, cancel := start()
	defer cancel()
	if err := chromedp.Do(ctx); err != nil { // this tab is the browser's first, and ends with it
		return err
	}
	out := json.NewEncoder(os.Stdout)
	for i, url := range urls {
		seen, err := o.see(ctx, url, string(axe), i == 0)
		if err != nil {
			return err
		}
		for _, v := range seen {
			if err := out.Encode(v); err != nil {
				return err
			}
		}
	}
	answers, err := search(ctx, urls[0], strings.Split(o.searches, "|"))
	if err != nil {
		return err
	}
	for _, found := range answers {
		if err := out.Encode(found); err != nil {
			return err
		}
	}
	return nil
}

// see visits a page in the first look. The first page is visited in all looks.
func (o options) see(ctx context.Context, url, axe string, isFirst bool) (seen []*visit, err error) {
	wanted := looks[:1]
	if isFirst || o.all {
		wanted = looks
	}
	for _, look := range wanted {
		v, err := look.visit(ctx, url, axe, o.screenshots)
		if err != nil {
			return nil, err
		}
		seen = append(seen, v)
	}
	if isFirst || o.all {
		v, err := read(ctx, url, o.screenshots)
		return append(seen, v), err
	}
	return seen, nil
}

// start starts a browser. Root has no sandbox. Without a GPU, its process would emulate one.
func start() (context.Context, context.CancelFunc) {
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.NoSandbox, chromedp.Flag("disable-gpu", true))
	all, stop := chromedp.NewExecAllocator(context.Background(), options...)
	ctx, cancel := chromedp.NewContext(all)
	return ctx, func() { cancel(); stop() }
}
