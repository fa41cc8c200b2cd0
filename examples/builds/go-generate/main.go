// Command tensors prints a device type, by the generated package.
package main

import (
	"fmt"

	"example.org/tensors/dlpack"
	"example.org/tensors/plain"
)

func main() {
	fmt.Println(plain.Name, dlpack.DeviceCPU)
}
