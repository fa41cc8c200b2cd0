package draw

import (
	"encoding/json"

	"github.com/dlpackgen/dlpackgen/internal/cdecl"
	"github.com/dlpackgen/dlpackgen/internal/layout"
)

// Version is the version of the JSON output. Removing a key or changing its meaning increments it;
// adding a key does not.
const Version = 1

type document struct {
	Version int         `json:"version"`
	DLPack  string      `json:"dlpack"`
	Lang    string      `json:"lang"`
	Models  []modelJSON `json:"models"`
}

type modelJSON struct {
	Name    string       `json:"name"`
	Doc     string       `json:"doc"`
	Enums   []enumJSON   `json:"enums"`
	Structs []structJSON `json:"structs"`
}

// typeJSON contains the keys of every type, which come first.
type typeJSON struct {
	Name  string `json:"name"`
	Size  int    `json:"size"`
	Align int    `json:"align"`
}

type enumJSON struct {
	typeJSON
	Signed bool `json:"signed"`
}

type structJSON struct {
	typeJSON
	Fields []fieldJSON `json:"fields"`
	Holes  []holeJSON  `json:"holes"`
}

type fieldJSON struct {
	Name   string `json:"name"`
	Type   string `json:"type"`
	Offset int    `json:"offset"`
	Size   int    `json:"size"`
	Align  int    `json:"align"`
}

type holeJSON struct {
	Offset int `json:"offset"`
	Size   int `json:"size"`
}

// JSON returns the contents of Text as JSON; schema.json describes it. Every list is present, even
// if empty, and all numbers are in bytes.
func JSON(tables []*layout.Table, names []string) []byte {
	doc := document{Version: Version, Models: []modelJSON{}}
	for _, v := range views(tables, names) {
		doc.DLPack, doc.Lang = v.Release.Version, v.Lang.String()
		doc.Models = append(doc.Models, modelOf(v))
	}
	data, err := json.MarshalIndent(doc, "", "  ")
	if err != nil {
		panic("unreachable: plain structs always marshal: " + err.Error())
	}
	return append(data, '\n')
}

func modelOf(v view) modelJSON {
	m := modelJSON{Name: v.Model.Name, Doc: v.Model.Doc, Enums: []enumJSON{}, Structs: []structJSON{}}
	for _, e := range v.enums {
		m.Enums = append(m.Enums, enumJSON{typeJSON{e.Name, e.Size, e.Align}, e.Signed})
	}
	for _, s := range v.structs {
		m.Structs = append(m.Structs, structOf(v, s))
	}
	return m
}

func structOf(v view, s layout.Struct) structJSON {
	out := structJSON{typeJSON: typeJSON{s.Name, s.Size, s.Align}, Fields: []fieldJSON{}, Holes: []holeJSON{}}
	spell := cdecl.Of(v.Release).In(s.Name)
	for _, f := range s.Fields {
		out.Fields = append(out.Fields, fieldJSON{f.Name, spell.Type(f.Type), f.Offset, f.Size, f.Align})
	}
	for _, h := range s.Holes {
		out.Holes = append(out.Holes, holeJSON(h))
	}
	return out
}
