package main

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/dlpackgen/dlpackgen/internal/spec"
	"github.com/dlpackgen/dlpackgen/internal/targets"
)

// addReference adds the pages that are generated from the spec, the table of targets, the schema of
// configs and the command's help.
func (p *pages) addReference(tree fs.FS) error {
	release, err := spec.Embedded().Release("latest")
	if err != nil {
		return err
	}
	p.files["reference/devices.md"] = devicesPage(release)
	p.files["reference/dtypes.md"] = dtypesPage(release)
	p.files["reference/targets.md"] = targetsPage()
	schema, err := fs.ReadFile(tree, "docs/schema/config.json")
	if err != nil {
		return err
	}
	if p.files["reference/config.md"], err = configPage(schema); err != nil {
		return err
	}
	p.files["reference/commands.md"], err = commandsPage()
	return err
}

func devicesPage(r *spec.Release) []byte {
	page := newPage("Device types", "The device types of DLPack "+r.Version+", and how generated code treats them. "+
		"`dlpackgen list devices --dlpack VERSION` prints the types of another release.")
	page.row("Name", "Value", "Host reads it", "`data` is", "`device_id`", "Streams", "Meaning")
	page.row("---", "--:", "---", "---", "---", "---", "---")
	for _, enum := range spec.Of[*spec.Enum](r) {
		for _, v := range enum.Values {
			if v.Device != nil {
				page.device(v)
			}
		}
	}
	page.line("")
	page.streams(r)
	return page.bytes()
}

// device is the row of a device type.
func (m *markdown) device(v spec.EnumValue) {
	data, id, streams := "an address", "an ordinal", "only None"
	if v.Device.Opaque {
		data = "a handle"
	}
	if v.Device.IDZero {
		id = "always 0"
	}
	if v.Device.Streams != "" {
		streams = fmt.Sprintf("[%s](#streams-of-%s)", v.Device.Streams, v.Device.Streams)
	}
	reads := "no"
	if v.Device.HostReadable {
		reads = "yes"
	}
	m.row("`"+v.Name+"`", fmt.Sprint(v.Value), reads, data, id, streams, v.Doc)
}

// streams explains the stream numbers of __dlpack__.
func (m *markdown) streams(r *spec.Release) {
	for _, table := range r.Streams {
		m.heading("Streams of " + table.Name)
		m.paragraph("%s", sentence(table.Doc))
		m.row("`stream=`", "Meaning")
		m.row("--:", "---")
		for _, v := range table.Values {
			m.row(fmt.Sprint(v.Value), strings.ReplaceAll(v.Meaning, "_", " "))
		}
		if table.Handle {
			m.row("larger numbers", "the address of a stream")
		}
		m.line("")
	}
}

func dtypesPage(r *spec.Release) []byte {
	page := newPage("Data types", "The data types of DLPack "+r.Version+
		", with their names in descriptions of kernels. "+
		"`dlpackgen list dtypes --dlpack VERSION` prints the types of another release.")
	page.row("Name", "Type code", "Bits", "Lanes", "PyTorch", "Meaning")
	page.row("---", "---", "--:", "--:", "---", "---")
	for _, t := range r.DTypes {
		torch := ""
		if t.Torch.Type != "" {
			torch = "`" + t.Torch.Type + "`"
		}
		page.row("`"+t.Name+"`", "`"+t.Code+"`", fmt.Sprint(t.Bits), fmt.Sprint(t.Lanes), torch, t.Doc)
	}
	return page.bytes()
}

func targetsPage() []byte {
	page := newPage("Targets",
		"The targets that `targets:` in `dlpackgen.yaml` can list. [The config](config.md) lists "+
			"the keys of each target.")
	page.row("Target", "Oldest DLPack", "Default path", "Output")
	page.row("---", "---", "---", "---")
	for _, t := range targets.All() {
		page.row("`"+t.Name+"`", t.Oldest, "`"+t.Path+"`", t.About())
	}
	return page.bytes()
}

// commandsPage contains the help of each command, as the program prints it.
func commandsPage() ([]byte, error) {
	dir, err := os.MkdirTemp("", "dlpackgen-site-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	program := filepath.Join(dir, "dlpackgen")
	if _, err := output("go", "build", "-o", program, "./cmd/dlpackgen"); err != nil {
		return nil, err
	}
	help, err := output(program, "help", "--format", "json")
	if err != nil {
		return nil, err
	}
	paths, err := commands(help)
	if err != nil {
		return nil, err
	}
	page := newPage("Command help",
		"The output of `dlpackgen COMMAND --help`. [The command line](../cli.md) describes what "+
			"scripts can rely on.")
	for _, path := range paths {
		text, err := output(program, append(path, "--help")...)
		if err != nil {
			return nil, err
		}
		page.heading("dlpackgen " + strings.Join(path, " "))
		page.code("text", text)
	}
	return page.bytes(), nil
}

func output(program string, args ...string) (string, error) {
	out, err := exec.Command(program, args...).Output()
	if err != nil {
		return "", fmt.Errorf("%s: %w", program+" "+strings.Join(args, " "), err)
	}
	return string(out), nil
}

// commandHelp is the output of dlpackgen help --format json for one command.
type commandHelp struct {
	Use      string
	Commands []commandHelp
}

// commands returns the words that call each command, including subcommands, from the help as data.
func commands(help string) ([][]string, error) {
	var root commandHelp
	if err := json.Unmarshal([]byte(help), &root); err != nil {
		return nil, fmt.Errorf("dlpackgen help --format json: %w", err)
	}
	return root.below(nil), nil
}

func (h commandHelp) below(words []string) (all [][]string) {
	for _, sub := range h.Commands {
		name, _, _ := strings.Cut(sub.Use, " ")
		path := append(slices.Clone(words), name)
		all = append(append(all, path), sub.below(path)...)
	}
	return all
}
