package contract

import (
	"regexp"
	"strings"

	"github.com/dlpackgen/dlpackgen/internal/yaml"
)

// doubt contains names whose absence must not be reported: parts of the description that could not
// be read may define them, or the name already has a finding.
type doubt struct {
	all    bool // a whole section could not be read
	shapes bool // an argument could not be read that may bind any symbol
	names  map[string]bool
}

func (d *doubt) has(name string) bool { return d.all || d.names[name] }

func (d *doubt) add(name string) {
	if d.names == nil {
		d.names = map[string]bool{}
	}
	d.names[name] = true
}

// words matches the names in a line that could not be read. An ellipsis without a name is "...".
var words = regexp.MustCompile(`[A-Za-z_]\w*|\.\.\.`)

// addLine adds every name in a line. A line without an extent may have been meant to have any.
func (d *doubt) addLine(e yaml.Entry) {
	d.addText(e.Key)
	d.addText(e.Value)
	d.shapes = d.shapes || !strings.Contains(e.Value.Value, "[")
}

// addText adds every name in a part of the description.
func (d *doubt) addText(n *yaml.Node) {
	for _, name := range words.FindAllString(n.Value, -1) {
		d.add(name)
	}
	for _, item := range n.Items {
		d.addText(item)
	}
	for _, e := range n.Entries {
		d.addText(e.Key)
		d.addText(e.Value)
	}
}

// once reports whether a name has no finding yet, and records that it has one now.
func (d *doubt) once(name string) bool {
	if d.has(name) {
		return false
	}
	d.add(name)
	return true
}
