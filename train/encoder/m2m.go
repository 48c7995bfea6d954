package encoder

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"bitextmine/internal/badinput"
	"bitextmine/train/layers"
	"bitextmine/train/weights"
)

// m2m is the part of Hugging Face's config.json about the encoder of an M2M-100 or NLLB model.
type m2m struct {
	ModelType  string `json:"model_type"`
	Width      int    `json:"d_model"`
	Layers     int    `json:"encoder_layers"`
	Heads      int    `json:"encoder_attention_heads"`
	FFN        int    `json:"encoder_ffn_dim"`
	Activation string `json:"activation_function"`
	Places     int    `json:"max_position_embeddings"`
	Vocabulary int    `json:"vocab_size"`
	Pad        int    `json:"pad_token_id"`
	Scaled     bool   `json:"scale_embedding"`
}

// ReadM2M reads the encoder of an M2M-100 or NLLB model, such as SONAR's of text, from config.json and safetensors.
// Its sines of positions and the factor on its words become tables, so that it is a transformer with learned
// positions. A decoder is left out.
func ReadM2M(dir string, pooling Pooling) (Settings, []*weights.Tensor, error) {
	path := filepath.Join(dir, "config.json")
	raw, err := os.ReadFile(path)
	if err != nil {
		return Settings{}, nil, err
	}
	c := m2m{Pad: 1}
	if err := json.Unmarshal(raw, &c); err != nil || c.ModelType != "m2m_100" {
		return Settings{}, nil, badinput.Errorf("%s is not the configuration of an m2m_100", path)
	}
	s := Settings{Layers: c.Layers, Heads: c.Heads, Width: c.Width, FFN: c.FFN, Norm: layers.PreNorm,
		Positions: Learned, MaxTokens: c.Places,
		Activation: activations[c.Activation], Epsilon: 1e-5, Pooling: pooling, Vocabulary: c.Vocabulary,
		Precision: layers.Float32}
	if s.Activation == "" {
		return s, nil, badinput.Errorf("%s has the activation_function %q, but only gelu, gelu_new and relu can be computed", path, c.Activation)
	}
	if err := s.Validate(); err != nil {
		return s, nil, badinput.Errorf("%s: %w", path, err)
	}
	read, err := weights.ReadModel(dir, func(name string) bool { return m2mName(name) != "" })
	if err != nil {
		return s, nil, err
	}
	seen := map[string]bool{}
	read = slices.DeleteFunc(read, func(t *weights.Tensor) bool { // the table of words stands there under several names
		t.Name = m2mName(t.Name)
		twice := seen[t.Name]
		seen[t.Name] = true
		return twice
	})
	for _, t := range read {
		if t.Name == Words && c.Scaled {
			factor := float32(math.Sqrt(float64(s.Width)))
			for i := range t.Data {
				t.Data[i] *= factor
			}
		} else if t.Name != Words && len(t.Shape) == 2 {
			transpose(t)
		}
	}
	read = append(read, &weights.Tensor{Name: positions, Shape: []int{s.MaxTokens, s.Width},
		Data: m2mSines(c.Pad+1, s.MaxTokens, s.Width)})
	tensors, err := arrange(s, dir, read)
	return s, tensors, err
}

// m2mSines are the positions from first on, as tensor2tensor computed them: sines in the first half of a row, cosines
// in the second, wavelengths from 2π to exactly 10000·2π.
func m2mSines(first, length, width int) []float32 {
	out := make([]float32, length*width)
	half := width / 2
	for p := range length {
		for i := range half {
			angle := float64(first+p) * math.Exp(-math.Log(10000)*float64(i)/float64(half-1))
			out[p*width+i], out[p*width+half+i] = float32(math.Sin(angle)), float32(math.Cos(angle))
		}
	}
	return out
}

var (
	m2mPrefix = regexp.MustCompile(`^(model\.)?(encoder\.)?`)
	m2mLayer  = regexp.MustCompile(`^layers\.([0-9]+)\.(.+)\.(weight|bias)$`)
	m2mParts  = map[string]string{"self_attn.q_proj": "attention.query", "self_attn.k_proj": "attention.key",
		"self_attn.v_proj":   "attention.value",
		"self_attn.out_proj": "attention.out", "self_attn_layer_norm": "attention.norm", "fc1": "ffn.in",
		"fc2": "ffn.out", "final_layer_norm": "ffn.norm"}
)

// m2mName is our name of a published tensor, or empty for what an encoder does not need.
func m2mName(name string) string {
	if strings.Contains(name, "decoder.") {
		return ""
	}
	name = m2mPrefix.ReplaceAllString(name, "")
	switch name {
	case "embed_tokens.weight", "shared.weight":
		return Words
	case "layer_norm.weight":
		return finalNorm + ".scale"
	case "layer_norm.bias":
		return finalNorm + ".bias"
	}
	m := m2mLayer.FindStringSubmatch(name)
	if m == nil || m2mParts[m[2]] == "" {
		return ""
	}
	part := m[3]
	if strings.HasSuffix(m[2], "layer_norm") {
		part = normPart(part)[1:]
	}
	return fmt.Sprintf("%s.%s.%s.%s", stackName, m[1], m2mParts[m[2]], part)
}
