package reports

import (
	"bytes"
	"encoding/json"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/invopop/jsonschema"
	validator "github.com/santhosh-tekuri/jsonschema/v6"
)

const schemaFile = "result.schema.json"

// generateSchema derives the schema from the structs. Unknown fields are
// allowed: within a major version the form only grows.
func generateSchema(t *testing.T) []byte {
	t.Helper()
	reflector := jsonschema.Reflector{
		Anonymous: true, AllowAdditionalProperties: true,
		Mapper: func(typ reflect.Type) *jsonschema.Schema {
			if typ != reflect.TypeFor[Verdict]() {
				return nil
			}
			s := &jsonschema.Schema{Type: "string"}
			for _, v := range Verdicts {
				s.Enum = append(s.Enum, string(v))
			}
			return s
		},
	}
	schema := reflector.Reflect(&Result{})
	schema.ID = "urn:mqttcheck:result:1"
	schema.Title = "Result of a run of mqttcheck"
	data, err := json.MarshalIndent(schema, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return append(data, '\n')
}

func TestSchemaIsThatOfTheStructs(t *testing.T) {
	want := generateSchema(t)
	if *update {
		if err := os.WriteFile(schemaFile, want, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(schemaFile)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s is not that of the structs (go test ./reports -update writes it)", schemaFile)
	}
}

func compileSchema(t *testing.T) *validator.Schema {
	t.Helper()
	f, err := os.Open(schemaFile)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	doc, err := validator.UnmarshalJSON(f)
	if err != nil {
		t.Fatal(err)
	}
	c := validator.NewCompiler()
	if err := c.AddResource("result", doc); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("result")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func validate(t *testing.T, s *validator.Schema, data []byte) error {
	t.Helper()
	doc, err := validator.UnmarshalJSON(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	return s.Validate(doc)
}

func TestResultsValidate(t *testing.T) {
	schema := compileSchema(t)
	for name, r := range map[string]Result{
		"sample": sample(t), "nothing ran": Build(RunInfo{}, nil), "zero": {SchemaVersion: SchemaVersion},
	} {
		data := render(t, r, JSON)
		if err := validate(t, schema, data); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if bytes.Contains(data, []byte("null")) {
			t.Errorf("%s: a list is null", name)
		}
	}
}

func TestSchemaRefuses(t *testing.T) {
	schema := compileSchema(t)
	good := string(render(t, sample(t), JSON))
	for name, change := range map[string][2]string{
		"an id without a version": {`"id": "v5/MQTT-3.3.1-4"`, `"id": "MQTT-3.3.1-4"`},
		"an unknown verdict":      {`"verdict": "unsupported"`, `"verdict": "meh"`},
		"another major version":   {`"schemaVersion": "1.0"`, `"schemaVersion": "2.0"`},
		"a list that is null":     {`"observations": [`, `"observations": null, "x": [`},
		"a missing field":         {`"statements": [`, `"theses": [`},
	} {
		bad := strings.Replace(good, change[0], change[1], 1)
		if bad == good {
			t.Fatalf("%s: nothing to change", name)
		}
		if validate(t, schema, []byte(bad)) == nil {
			t.Errorf("the schema takes %s", name)
		}
	}
}
