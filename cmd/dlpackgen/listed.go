package main

import (
	"fmt"
	"strings"

	"github.com/dlpackgen/dlpackgen/internal/spec"
)

// listVersion is the version of the JSON form; docs/schema/list.json has it.
const listVersion = 1

// list is the output of `list`. Only the field of the requested word is not nil.
type list struct {
	Version  int      `json:"version"`
	DLPack   string   `json:"dlpack,omitempty"` // the release of types, devices and dtypes
	Kernel   string   `json:"kernel,omitempty"`
	Versions []listed `json:"versions,omitzero"`
	Targets  []listed `json:"targets,omitzero"`
	Types    []listed `json:"types,omitzero"`
	Devices  []listed `json:"devices,omitzero"`
	DTypes   []listed `json:"dtypes,omitzero"`
	Callers  []listed `json:"callers,omitzero"`
}

// listed is one entry. Its text consists of columns that begin with the name.
type listed interface{ columns() []string }

type listedVersion struct {
	Name       string `json:"name"`
	Date       string `json:"date"`
	Unreleased bool   `json:"unreleased,omitempty"`
}

func (v listedVersion) columns() []string {
	if v.Unreleased {
		return []string{v.Name, v.Date, "unreleased"}
	}
	return []string{v.Name, v.Date}
}

func listVersions(_ *app, q query) (list, error) {
	all := []listed{}
	for _, r := range q.spec.Releases() {
		all = append(all, listedVersion{r.Version, r.Date, r.Unreleased})
	}
	return list{Versions: all}, nil
}

type listedType struct {
	Name string `json:"name"`
	Kind string `json:"kind"` // enum, struct, alias or callback
	Of   string `json:"of,omitempty"`
	Doc  string `json:"doc"`
}

func (t listedType) columns() []string {
	if t.Of != "" {
		return []string{t.Name, t.Kind + " of " + t.Of, t.Doc}
	}
	return []string{t.Name, t.Kind, t.Doc}
}

func listTypes(_ *app, q query) (list, error) {
	all := []listed{}
	for _, d := range q.release.Decls {
		switch d := d.(type) {
		case *spec.Enum:
			all = append(all, listedType{Name: d.Name, Kind: "enum", Doc: d.Doc})
		case *spec.Struct:
			all = append(all, listedType{Name: d.Name, Kind: "struct", Doc: d.Doc})
		case *spec.Alias:
			all = append(all, listedType{Name: d.Name, Kind: "alias", Of: d.Target, Doc: d.Doc})
		case *spec.Callback:
			all = append(all, listedType{Name: d.Name, Kind: "callback", Doc: d.Doc})
		}
	}
	return list{DLPack: q.release.Version, Types: all}, nil
}

type listedDevice struct {
	Name  string `json:"name"`
	Value int64  `json:"value"`
	Doc   string `json:"doc"`
}

func (d listedDevice) columns() []string { return []string{d.Name, fmt.Sprint(d.Value), d.Doc} }

func listDevices(_ *app, q query) (list, error) {
	all := []listed{}
	for _, e := range spec.Of[*spec.Enum](q.release) {
		for _, v := range e.Values {
			if v.Device != nil {
				all = append(all, listedDevice{v.Name, v.Value, v.Doc})
			}
		}
	}
	return list{DLPack: q.release.Version, Devices: all}, nil
}

type listedDType struct {
	Name  string `json:"name"`
	Code  string `json:"code"`
	Bits  int    `json:"bits"`
	Lanes int    `json:"lanes"`
	Doc   string `json:"doc"`
}

func (t listedDType) columns() []string {
	return []string{t.Name, t.Code, fmt.Sprintf("%d bits", t.Bits), fmt.Sprintf("%d lanes", t.Lanes), t.Doc}
}

func listDTypes(_ *app, q query) (list, error) {
	all := []listed{}
	for _, t := range q.release.DTypes {
		all = append(all, listedDType{t.Name, t.Code, t.Bits, t.Lanes, t.Doc})
	}
	return list{DLPack: q.release.Version, DTypes: all}, nil
}

type listedTarget struct {
	Name        string   `json:"name"`
	Oldest      string   `json:"oldest"` // release
	Doc         string   `json:"doc"`
	Needs       []string `json:"needs"`        // targets whose headers its files include
	KernelNeeds []string `json:"kernel_needs"` // likewise, if the config describes kernels
	Templates   string   `json:"templates,omitempty"`
	Own         bool     `json:"own,omitempty"` // of the config
	about       string
}

func (t listedTarget) columns() []string {
	about := t.about
	if t.Templates != "" {
		about += " in " + t.Templates
	}
	return []string{t.Name, "DLPack " + t.Oldest + " and newer", about}
}

type listedCaller struct {
	Target  string   `json:"target"`
	Verdict string   `json:"verdict"` // yes, limited or no
	Reasons []string `json:"reasons"`
}

func (c listedCaller) columns() []string {
	return []string{c.Target, c.Verdict, strings.Join(c.Reasons, "; ")}
}

// orEmpty returns a list that JSON does not encode as null.
func orEmpty(names []string) []string { return append([]string{}, names...) }
