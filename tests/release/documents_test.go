package release

import (
	"encoding/json"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The SBOM lists the modules that the go command finds in the binary, with a licence for each.
func TestSBOM(t *testing.T) {
	heavy(t)
	dir, version := published(t)
	var sbom struct {
		SPDXVersion, SPDXID, DocumentNamespace string
		Packages                               []struct {
			Name, SPDXID, VersionInfo, LicenseDeclared string
			ExternalRefs                               []struct{ ReferenceLocator string }
		}
		Relationships []struct{ SPDXElementID, RelationshipType, RelatedSPDXElement string }
	}
	require.NoError(t, json.Unmarshal([]byte(read(t, only(t, dir, "*.spdx.json"))), &sbom))
	assert.Equal(t, "SPDX-2.3", sbom.SPDXVersion)
	listed := map[string]string{}
	for _, p := range sbom.Packages {
		listed[p.Name] = p.VersionInfo
		assert.Regexp(t, `^SPDXRef-[a-zA-Z0-9.-]+$`, p.SPDXID)
		assert.Regexp(t, `^(Apache-2\.0|BSD-3-Clause|MIT)( AND (Apache-2\.0|MIT))?$`, p.LicenseDeclared, p.Name)
		assert.Regexp(t, `^pkg:golang/.+@.+$`, p.ExternalRefs[0].ReferenceLocator)
	}
	assert.Len(t, sbom.Relationships, len(sbom.Packages), "the document describes the tool, which contains the others")
	info := run(t, dir, nil, "go", "version", "-m", filepath.Join(unpacked(t), "dlpackgen"))
	assert.Contains(t, info, "\tmod\tgithub.com/dlpackgen/dlpackgen\tv"+version+"\th1:")
	linked := regexp.MustCompile(`(?m)^\tdep\t(\S+)\t(\S+)`).FindAllStringSubmatch(info, -1)
	require.NotEmpty(t, linked)
	for _, dep := range linked {
		assert.Equal(t, dep[2], listed[dep[1]], dep[1])
	}
	assert.Contains(t, info, ": go"+listed["std"])
}

// The statement contains each file with its digest, the commit and the Go version.
func TestProvenance(t *testing.T) {
	heavy(t)
	dir, _ := published(t)
	var s struct {
		Type          string `json:"_type"`
		PredicateType string
		Subject       []struct {
			Name   string
			Digest map[string]string
		}
		Predicate struct {
			BuildDefinition struct {
				BuildType            string
				InternalParameters   map[string]string
				ResolvedDependencies []struct {
					URI    string
					Digest map[string]string
				}
			}
			RunDetails struct{ Builder struct{ ID string } }
		}
	}
	require.NoError(t, json.Unmarshal([]byte(read(t, only(t, dir, "*.provenance.json"))), &s))
	assert.Equal(t, "https://in-toto.io/Statement/v1", s.Type)
	assert.Equal(t, "https://slsa.dev/provenance/v1", s.PredicateType)
	assert.NotEmpty(t, s.Predicate.BuildDefinition.BuildType)
	assert.NotEmpty(t, s.Predicate.RunDetails.Builder.ID)
	assert.Regexp(t, `^[0-9a-f]{40}$`, s.Predicate.BuildDefinition.ResolvedDependencies[0].Digest["gitCommit"])
	assert.Equal(t, "1767323045", s.Predicate.BuildDefinition.InternalParameters["epoch"], "the commit's time")
	all := digests(t, dir)
	for _, subject := range s.Subject {
		assert.Equal(t, all[subject.Name], subject.Digest["sha256"], subject.Name)
	}
	assert.Len(t, s.Subject, len(all)-2, "all but the checksums and the statement")
	assert.Contains(t, run(t, dir, nil, "go", "version", filepath.Join(unpacked(t), "dlpackgen")),
		strings.TrimSpace(s.Predicate.BuildDefinition.InternalParameters["go"]))
}
