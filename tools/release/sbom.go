package main

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"
)

// An SPDX 2.3 document, with the parts that Go modules need. SPDX's Go library is larger.
type spdxDocument struct {
	Version       string             `json:"spdxVersion"`
	License       string             `json:"dataLicense"`
	ID            string             `json:"SPDXID"`
	Name          string             `json:"name"`
	Namespace     string             `json:"documentNamespace"`
	Creation      spdxCreation       `json:"creationInfo"`
	Packages      []spdxPackage      `json:"packages"`
	Relationships []spdxRelationship `json:"relationships"`
}

type spdxCreation struct {
	Created  string   `json:"created"`
	Creators []string `json:"creators"`
}

type spdxPackage struct {
	Name      string          `json:"name"`
	ID        string          `json:"SPDXID"`
	Version   string          `json:"versionInfo"`
	Location  string          `json:"downloadLocation"`
	Analyzed  bool            `json:"filesAnalyzed"`
	Concluded string          `json:"licenseConcluded"`
	Declared  string          `json:"licenseDeclared"`
	Copyright string          `json:"copyrightText"`
	Purpose   string          `json:"primaryPackagePurpose"`
	External  []spdxReference `json:"externalRefs"`
}

type spdxReference struct {
	Category string `json:"referenceCategory"`
	Type     string `json:"referenceType"`
	Locator  string `json:"referenceLocator"`
}

type spdxRelationship struct {
	Of   string `json:"spdxElementId"`
	Kind string `json:"relationshipType"`
	To   string `json:"relatedSpdxElement"`
}

// sbom lists the modules in the binaries.
func (r *release) sbom(_ []binary, s *shared) ([]file, error) {
	const document, purpose = "SPDXRef-DOCUMENT", "LIBRARY"
	tool := spdx(modulePath, r.tag(), "Apache-2.0", "APPLICATION")
	doc := spdxDocument{Version: "SPDX-2.3", License: "CC0-1.0", ID: document, Name: "dlpackgen " + r.version,
		Namespace: homepage + "/spdx/" + r.version + "-" + r.commit,
		Creation: spdxCreation{Created: r.when.Format(time.RFC3339),
			Creators: []string{"Organization: dlpackgen", "Tool: dlpackgen-tools-release-" + r.version}},
		Packages:      []spdxPackage{tool},
		Relationships: []spdxRelationship{{document, "DESCRIBES", tool.ID}},
	}
	contained := append([]linked{{path: "std", version: strings.TrimPrefix(goVersion(), "go"),
		licence: "BSD-3-Clause"}},
		s.modules...)
	for _, m := range contained {
		p := spdx(m.path, m.version, m.licence, purpose)
		doc.Packages = append(doc.Packages, p)
		doc.Relationships = append(doc.Relationships, spdxRelationship{tool.ID, "CONTAINS", p.ID})
	}
	data, err := json.MarshalIndent(doc, "", "  ")
	return []file{{path: "dlpackgen_" + r.version + ".spdx.json", data: append(data, '\n')}}, err
}

func spdx(path, version, licence, purpose string) spdxPackage {
	purl := "pkg:golang/" + path + "@" + version
	if path == "std" {
		purl = "pkg:golang/stdlib@" + version
	}
	id := "SPDXRef-" + strings.Map(func(c rune) rune {
		if strings.ContainsRune("/_", c) {
			return '-'
		}
		return c
	}, path)
	return spdxPackage{Name: path, ID: id, Version: version, Location: "NOASSERTION", Concluded: licence,
		Declared:  licence,
		Copyright: "NOASSERTION", Purpose: purpose,
		External: []spdxReference{{"PACKAGE-MANAGER", "purl", purl}}}
}

// statement is an in-toto statement with SLSA provenance: the inputs of these files. It is
// unsigned; the publisher may sign it.
type statement struct {
	Type      string     `json:"_type"`
	Subject   []resource `json:"subject"`
	Kind      string     `json:"predicateType"`
	Predicate provenance `json:"predicate"`
}

type resource struct {
	Name   string            `json:"name,omitempty"`
	URI    string            `json:"uri,omitempty"`
	Digest map[string]string `json:"digest,omitempty"`
}

type provenance struct {
	Definition definition `json:"buildDefinition"`
	Run        struct {
		Builder struct {
			ID string `json:"id"`
		} `json:"builder"`
	} `json:"runDetails"`
}

type definition struct {
	Type     string            `json:"buildType"`
	External map[string]string `json:"externalParameters"`
	Internal map[string]string `json:"internalParameters"`
	Resolved []resource        `json:"resolvedDependencies"`
}

func (r *release) provenance(made []file, modules []linked) (file, error) {
	s := statement{Type: "https://in-toto.io/Statement/v1", Kind: "https://slsa.dev/provenance/v1"}
	for _, f := range sorted(made) {
		s.Subject = append(s.Subject, resource{Name: f.path, Digest: map[string]string{"sha256": sha256Hex(f.data)}})
	}
	s.Predicate.Run.Builder.ID = homepage + "/tree/" + r.tag() + "/tools/release"
	s.Predicate.Definition = definition{
		Type:     homepage + "/tree/main/tools/release",
		External: map[string]string{"version": r.version},
		Internal: map[string]string{"go": goVersion(), "epoch": fmt.Sprint(r.when.Unix()), "digest": r.digest},
		Resolved: []resource{{URI: "git+" + homepage + "@" + r.tag(),
			Digest: map[string]string{"gitCommit": r.commit}}},
	}
	for _, m := range modules {
		s.Predicate.Definition.Resolved = append(s.Predicate.Definition.Resolved,
			resource{URI: "pkg:golang/" + m.path + "@" + m.version, Digest: map[string]string{"dirHash1": m.sum}})
	}
	data, err := json.MarshalIndent(s, "", "  ")
	return file{path: "dlpackgen_" + r.version + ".provenance.json", data: append(data, '\n')}, err
}
