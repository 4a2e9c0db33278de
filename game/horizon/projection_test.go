package horizon

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
)

const canary = "CANARY-4711"

const (
	goodState  = `{"world":"W","dimension":"minecraft:overworld","loaded":true,"joined":true,"name":"companion","pos":[0.5,64,0.5],"yaw":1.5,"pitch":0,"health":20,"held":{"item":"minecraft:oak_planks","count":3},"selected":0,"action":null,"input":{"last_origin":"agent","counts":{"user":0,"agent":2,"game":0},"user_since_agent":false,"last_user_age_s":null}}`
	goodStatus = `{"screen":"playing","dimension":"minecraft:overworld","creative":false,"frame":1,"tick":2,"chunks":3,"fps":60,"frame_ms":16.6,"renderer":{"name":"R","memory":4},"server":{"address":"127.0.0.1:25565","name":"S","joined":true,"loaded":true}}`
)

// with puts another value at a key of the outer object, or drops the key.
func with(t *testing.T, doc, key, value string) string {
	t.Helper()
	var m map[string]json.RawMessage
	if err := json.Unmarshal([]byte(doc), &m); err != nil {
		t.Fatal(err)
	}
	if value == "" {
		delete(m, key)
	} else {
		m[key] = json.RawMessage(value)
	}
	var parts []string
	for k, v := range m {
		name, _ := json.Marshal(k)
		parts = append(parts, string(name)+":"+string(v))
	}
	return "{" + strings.Join(parts, ",") + "}"
}

func state(line string) (PlayerState, error) {
	r, err := parseReply([]byte(line))
	if err != nil {
		return PlayerState{}, err
	}
	return r.State()
}

func status(line string) (ClientStatus, error) {
	r, err := parseReply([]byte(line))
	if err != nil {
		return ClientStatus{}, err
	}
	return r.Status()
}

// hostile are values that no leaf may carry.
var hostile = []string{`{"x":"` + canary + `"}`, `["` + canary + `"]`, `[[1,2,3]]`, `[1,2]`, `[1,2,3,4]`, `[1,"2",3]`, `[1,2,{}]`, `"` + strings.Repeat("x", 5000) + `"`,
	`"a\u0000b"`, `"a\u001b[2Jb"`, `1e999`, `NaN`, `-Infinity`}

// contract: P1
func TestEveryLeafKeepsItsShape(t *testing.T) {
	want, err := state(goodState)
	if err != nil || want.Held.Count != 3 {
		t.Fatal(want, err)
	}
	for _, doc := range []string{goodState, goodStatus} {
		var m map[string]json.RawMessage
		if err := json.Unmarshal([]byte(doc), &m); err != nil {
			t.Fatal(err)
		}
		read := func(s string) error {
			if doc == goodState {
				_, err := state(s)
				return err
			}
			_, err := status(s)
			return err
		}
		for key, good := range m {
			values := append([]string{"true", "7.5", `"text"`, "-3", `{}`}, hostile...)
			for _, v := range values {
				if sameShape(string(good), v) {
					continue
				}
				err := read(with(t, doc, key, v))
				if !errors.Is(err, ErrMalformed) {
					t.Errorf("%s = %.40s: %v", key, v, err)
				} else if strings.Contains(err.Error(), canary) {
					t.Errorf("%s: the error repeats the value: %v", key, err)
				}
			}
			if key != "server" && key != "renderer" {
				if err := read(with(t, doc, key, "")); !errors.Is(err, ErrMalformed) {
					t.Errorf("without %s: %v", key, err)
				}
			}
		}
	}
}

// sameShape says whether a value may take the place of another.
func sameShape(good, v string) bool {
	switch {
	case good == "true" || good == "false":
		return v == "true"
	case good == "null":
		return v == `"text"`
	case good[0] == '"':
		return v == `"text"`
	case strings.ContainsAny(good[:1], "0123456789"):
		return v == "7.5" && good != "0" && good != "1" && good != "2" && good != "3" || v == "-3" && (strings.Contains(good, ".") || good == "20" || good == "60" || good == "0") || v == "7.5" && good == "0"
	}
	return false
}

// contract: P1
func TestCountersAreWholeAndNotNegative(t *testing.T) {
	for _, key := range []string{"frame", "tick", "chunks"} {
		for _, v := range []string{"-1", "1.5", "1e300", `"1"`, "null"} {
			if _, err := status(with(t, goodStatus, key, v)); !errors.Is(err, ErrMalformed) {
				t.Errorf("%s = %s: %v", key, v, err)
			}
		}
	}
	for _, v := range []string{"-1", "0.5", "null"} {
		if _, err := state(with(t, goodState, "selected", v)); !errors.Is(err, ErrMalformed) {
			t.Errorf("selected = %s: %v", v, err)
		}
	}
	for _, v := range []string{`""`, "0", "[]"} {
		if _, err := state(with(t, goodState, "action", v)); !errors.Is(err, ErrMalformed) {
			t.Errorf("action = %s: %v", v, err)
		}
	}
}

// contract: P2
func TestMissingServerStaysMissing(t *testing.T) {
	s, err := status(with(t, goodStatus, "server", ""))
	if err != nil || s.Server != nil {
		t.Fatal(s, err)
	}
	for _, v := range []string{"null", "false", `""`, "[]", "{}", `{"address":"","name":"","joined":true,"loaded":true}`, `{"address":null,"name":"","joined":true,"loaded":true}`,
		`{"address":"a:1","name":"","joined":"yes","loaded":true}`, `{"address":"a:1","name":"","joined":true}`, `{"address":{"x":1},"name":"","joined":true,"loaded":true}`} {
		if s, err := status(with(t, goodStatus, "server", v)); !errors.Is(err, ErrMalformed) || !reflect.DeepEqual(s, ClientStatus{}) {
			t.Errorf("server = %s reads as %+v, %v", v, s.Server, err)
		}
	}
}

// contract: P3
func TestUnrecognisedFieldsGoNowhere(t *testing.T) {
	private := `"clipboard":"` + canary + `","debug":{"a":["` + canary + `"]},"keyboard":["` + canary + `"],"name_tags":[{"name":"` + canary + `"}],"sidebar":"` + canary + `","` + canary + `":"` + canary + `",`
	st, err := state("{" + private + goodState[1:])
	if err != nil {
		t.Fatal(err)
	}
	cs, err := status("{" + private + goodStatus[1:])
	if err != nil {
		t.Fatal(err)
	}
	r, err := parseReply([]byte("{" + private + `"events":[{"seq":1,"kind":"chat","text":"` + canary + `"},{"seq":2,"kind":"` + canary + `"}],"last":2}`))
	if err != nil {
		t.Fatal(err)
	}
	ev, err := r.Events()
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range []any{st, cs, ev} {
		b, err := json.Marshal(v)
		if err != nil || strings.Contains(fmt.Sprintf("%+v %s", v, b), canary) {
			t.Errorf("%s %v", b, err)
		}
	}
	// Error replies: the kind, and nothing of the sentence.
	_, err = parseReply([]byte(`{"error":"` + canary + `","kind":"` + canary + `","clipboard":"` + canary + `"}`))
	var bad *ReplyError
	if !errors.As(err, &bad) || bad.Kind != KindOther || strings.Contains(fmt.Sprintf("%v %+v %#v", err, bad, bad), canary) {
		t.Fatalf("%#v", err)
	}
	// Faults name keys of ours only.
	for _, doc := range []string{`{"` + canary + `":1e999}`, `{"` + canary + `":1,"` + canary + `":2}`, `{"` + canary + `":` + strings.Repeat("[", 70) + strings.Repeat("]", 70) + `}`, canary} {
		if _, err := parseReply([]byte(doc)); err == nil || strings.Contains(err.Error(), canary) {
			t.Errorf("%.40s: %v", doc, err)
		}
	}
}

func TestReplyShapes(t *testing.T) {
	for _, bad := range []string{"", "null", "[]", `"x"`, "7", "{", "{}}", "{} {}", `{"a":1,"a":1}`, `{"a":{"b":1,"b":2}}`, "{\"a\":\"\xff\"}", "{\"a\":\"\x00\"}", `{"a":"` + "\x01" + `"}`, `{"ok":true,}`, `{'ok':true}`,
		`{"ok":true,"error":"x","kind":"busy"}`, `{"error":7,"kind":"busy"}`, `{"error":"x"}`, `{"error":"x","kind":7}`, `{"a":1e400}`, `{"a":[[[1e400]]]}`, `{"a":` + strings.Repeat("[", 64) + strings.Repeat("]", 64) + `}`} {
		if _, err := parseReply([]byte(bad)); !errors.Is(err, ErrMalformed) {
			t.Errorf("%.60s: %v", bad, err)
		}
	}
	if _, err := parseReply([]byte(`{"a":` + strings.Repeat("[", 63) + strings.Repeat("]", 63) + `}`)); err != nil {
		t.Error(err)
	}
	for _, notOK := range []string{`{}`, `{"ok":false}`, `{"ok":1}`, `{"ok":"true"}`, `{"ok":null}`} {
		r, err := parseReply([]byte(notOK))
		if err == nil {
			err = r.Done()
		}
		if !errors.Is(err, ErrMalformed) {
			t.Errorf("%s counts as done: %v", notOK, err)
		}
	}
	for k := KindUsage; k <= KindAPI; k++ {
		_, err := parseReply([]byte(`{"error":"a sentence","kind":"` + k.String() + `"}`))
		var bad *ReplyError
		if !errors.As(err, &bad) || bad.Kind != k {
			t.Errorf("%s: %v", k, err)
		}
	}
}

func TestEventsMustRise(t *testing.T) {
	for _, bad := range []string{`{"events":[{"seq":2,"kind":"chat"},{"seq":1,"kind":"chat"}],"last":2}`, `{"events":[{"seq":3,"kind":"chat"}],"last":2}`, `{"events":{},"last":2}`, `{"events":[7],"last":2}`,
		`{"events":[` + strings.Repeat(`{"seq":1,"kind":"x"},`, 256) + `{"seq":1,"kind":"x"}],"last":2}`, `{"events":[]}`} {
		r, err := parseReply([]byte(bad))
		if err == nil {
			_, err = r.Events()
		}
		if !errors.Is(err, ErrMalformed) {
			t.Errorf("%.60s: %v", bad, err)
		}
	}
}

func TestInventoryAndBlockShapes(t *testing.T) {
	r, err := parseReply([]byte(`{"slots":[{"slot":0,"item":"minecraft:oak_planks","count":3,"components":{"x":"` + canary + `"}}],"selected":0,"offhand":null,"carried":{"item":"a","count":1}}`))
	if err != nil {
		t.Fatal(err)
	}
	b, err := r.Inventory()
	if err != nil || len(b.Slots) != 1 || b.Slots[0].Count != 3 || b.Offhand != nil || b.Carried == nil || strings.Contains(fmt.Sprintf("%+v", b), canary) {
		t.Fatalf("%+v %v", b, err)
	}
	for _, bad := range []string{`{"slots":[],"selected":0,"carried":null}`, `{"slots":[],"selected":0,"offhand":0,"carried":null}`, `{"slots":null,"selected":0,"offhand":null,"carried":null}`,
		`{"slots":[{"slot":1,"item":"a","count":1},{"slot":1,"item":"a","count":1}],"selected":0,"offhand":null,"carried":null}`, `{"slots":[{"slot":1,"item":"a","count":-1}],"selected":0,"offhand":null,"carried":null}`} {
		if r, err = parseReply([]byte(bad)); err == nil {
			_, err = r.Inventory()
		}
		if !errors.Is(err, ErrMalformed) {
			t.Errorf("%.70s: %v", bad, err)
		}
	}
	for doc, good := range map[string]bool{`{"pos":[1,2,3],"block":"minecraft:air","state":{},"loaded":true}`: true, `{"pos":[1,2,3],"block":null,"state":{},"loaded":false}`: true,
		`{"pos":[1.5,2,3],"block":"a","loaded":true}`: false, `{"pos":[1,2,3],"block":null,"loaded":true}`: false, `{"pos":[1,2,3],"block":"a"}`: false, `{"pos":[1e12,2,3],"block":"a","loaded":true}`: false} {
		if r, err = parseReply([]byte(doc)); err != nil {
			t.Fatal(err)
		}
		if _, err = r.Block(); (err == nil) != good {
			t.Errorf("%s: %v", doc, err)
		}
	}
}

func TestProvenanceForms(t *testing.T) {
	for v, want := range map[string]bool{"true": true, "false": false, "0": false, "3": true} {
		doc := strings.Replace(goodState, `"user_since_agent":false`, `"user_since_agent":`+v, 1)
		if s, err := state(doc); err != nil || s.Input.UserSinceAgent != want {
			t.Errorf("%s: %+v %v", v, s.Input, err)
		}
	}
	for _, v := range []string{`"yes"`, "-1", "null", "{}"} {
		if _, err := state(strings.Replace(goodState, `"user_since_agent":false`, `"user_since_agent":`+v, 1)); !errors.Is(err, ErrMalformed) {
			t.Errorf("%s: %v", v, err)
		}
	}
}
