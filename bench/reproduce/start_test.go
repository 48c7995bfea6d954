package main

import (
	"testing"

	"bitextmine/train/objective/mexma"
)

// TestMEXMAStartsWithoutItsLoss: what both sides of MEXMA's comparison start from predicts masked words without the
// translation's vector; they differ in the gradients of tokens alone.
func TestMEXMAStartsWithoutItsLoss(t *testing.T) {
	b, err := readBudget("mexma.yaml")
	if err != nil {
		t.Fatal(err)
	}
	settings := func(name string) *mexma.Settings {
		g, s, err := b.of(name)
		if err != nil {
			t.Fatal(err)
		}
		c, err := b.preset(presets, g, s, b.Parts[0])
		if err != nil {
			t.Fatal(err)
		}
		return c.Objective.Settings.(*mexma.Settings)
	}
	for _, kind := range []string{"", "-mean"} {
		with, without := settings("mexma-no-koleo"+kind), settings("mexma-no-tokens"+kind)
		start := b.start("mexma-no-koleo" + kind)
		if of := settings(start); of.Context != mexma.NoContext || of.Alignment != mexma.Contrastive {
			t.Errorf("%s has %+v", start, of)
		}
		if start != b.start("mexma-no-tokens"+kind) || !with.TokenGradients || without.TokenGradients {
			t.Errorf("%+v and %+v start from %s", with, without, start)
		}
		if without.TokenGradients = true; *with != *without || with.Context == mexma.NoContext {
			t.Errorf("%+v and %+v differ in more than gradients of tokens, or have no context", with, without)
		}
	}
}
