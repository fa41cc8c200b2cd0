// Command tensors prints the size of a data type, by the generated package.
package main

import (
	"fmt"

	"example.org/tensors/dlpack"
	"example.org/tensors/plain"
)

func main() {
	fmt.Println(plain.Name, dlpack.Float32)
}
