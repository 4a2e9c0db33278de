package models

import "blockworld-voice/internal/digest"

// Form is how a model is published.
type Form uint8

const (
	FormGGML        Form = iota // one file that the engine reads: Pull
	FormSafetensors             // a folder that is converted: Import
)

// Entry is a known model.
type Entry struct {
	Name      string
	File      string // its name where it is published
	Form      Form
	Size      int64         // 0 where it was not verified
	SHA256    digest.Digest // zero where it was not verified
	Licence   string
	Languages string
	Origin    string // page or file, https
	Memory    string // needed while it is in use, about
	Note      string
}

// Default is the model that is used when none is named.
const Default = "base"

const hub = "https://huggingface.co/"

// catalogue holds digests and sizes only where the bytes themselves were seen to have them.
var catalogue = []Entry{
	{
		Name: "base", File: "ggml-base.bin", Size: 147951465,
		SHA256:  mustDigest("60ed5bc3dd14eea856493d334349b405782ddcaf0028d4b5df4088345fba2efe"),
		Licence: "MIT", Languages: "99, among them sk cs en",
		Origin: hub + "ggerganov/whisper.cpp/resolve/main/ggml-base.bin",
		Memory: "388 MB", Note: "the default; every threshold is fitted to it",
	},
	{
		Name: "tiny", File: "ggml-tiny.bin", Licence: "MIT", Languages: "99, among them sk cs en",
		Origin: hub + "ggerganov/whisper.cpp/resolve/main/ggml-tiny.bin",
		Memory: "273 MB", Note: "fastest; weak in Slovak and Czech",
	},
	{
		Name: "small", File: "ggml-small.bin", Licence: "MIT", Languages: "99, among them sk cs en",
		Origin: hub + "ggerganov/whisper.cpp/resolve/main/ggml-small.bin",
		Memory: "852 MB", Note: "better, about three times as slow as base",
	},
	{
		Name: "medium", File: "ggml-medium.bin", Licence: "MIT", Languages: "99, among them sk cs en",
		Origin: hub + "ggerganov/whisper.cpp/resolve/main/ggml-medium.bin",
		Memory: "2.1 GB", Note: "too slow for push-to-talk without a strong processor",
	},
	{
		Name: "large-v3-turbo", File: "ggml-large-v3-turbo.bin", Licence: "MIT", Languages: "99, among them sk cs en",
		Origin: hub + "ggerganov/whisper.cpp/resolve/main/ggml-large-v3-turbo.bin",
		Memory: "2 GB", Note: "large encoder with a small decoder",
	},
	{
		Name: "small-sk", File: "whisper-small-sk", Form: FormSafetensors, Licence: "MIT", Languages: "sk",
		Origin: hub + "NaiveNeuron/whisper-small-sk",
		Memory: "852 MB", Note: "small, tuned on Slovak: published word error on FLEURS 10.6 % instead of 36.1 %",
	},
	{
		Name: "medium-sk", File: "whisper-medium-sk", Form: FormSafetensors, Licence: "MIT", Languages: "sk",
		Origin: hub + "NaiveNeuron/whisper-medium-sk",
		Memory: "2.1 GB", Note: "medium, tuned on Slovak",
	},
	{
		Name: "large-v3-sk", File: "whisper-large-v3-sk", Form: FormSafetensors, Licence: "MIT", Languages: "sk",
		Origin: hub + "NaiveNeuron/whisper-large-v3-sk",
		Memory: "3.9 GB", Note: "large-v3, tuned on Slovak",
	},
}

// Catalogue returns the known models, the default one first.
func Catalogue() []Entry { return append([]Entry(nil), catalogue...) }

// Lookup finds the entry of a name.
func Lookup(name string) (Entry, bool) {
	for _, e := range catalogue {
		if e.Name == name {
			return e, true
		}
	}
	return Entry{}, false
}

// known finds the entry of a digest.
func known(d digest.Digest) (Entry, bool) {
	for _, e := range catalogue {
		if e.SHA256 == d && !d.IsZero() {
			return e, true
		}
	}
	return Entry{}, false
}

func mustDigest(s string) digest.Digest {
	d, err := digest.Parse(s)
	if err != nil {
		panic("models: a digest of the catalogue: " + err.Error())
	}
	return d
}
