// Package plain uses nothing that is generated: no change of the config compiles it again.
package plain

// Name is printed.
const Name = "the host is"
