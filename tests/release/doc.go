// Package release has the tests of what tools/release makes: each package installed from files into
// an empty environment, and used.
package release
