// Package release tests the output of tools/release: each package is installed from files into an
// empty environment, and used.
package release
