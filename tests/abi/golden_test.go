package abi

import (
	"testing"

	"github.com/dlpackgen/dlpackgen/internal/draw"
	"github.com/dlpackgen/dlpackgen/internal/golden"
	"github.com/dlpackgen/dlpackgen/internal/layout"
)

// The tables are of C: C++ differs under short enums alone, where it fixes the
// width of DLDeviceType from 0.7 on.
func TestGoldenTables(t *testing.T) {
	var owned []string
	for _, version := range versions() {
		var tables []*layout.Table
		for _, m := range layout.Models() {
			tables = append(tables, layout.Of(release(t, version), m, layout.C))
		}
		text, json := "abi/"+version+".txt", "abi/"+version+".json"
		golden.Assert(t, text, []byte(draw.Text(tables, nil)))
		golden.Assert(t, json, draw.JSON(tables, nil))
		owned = append(owned, text, json)
	}
	golden.Orphans(t, "abi", owned)
}
