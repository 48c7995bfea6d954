// Package toytest shows that a stage is one folder and one registration: its test brings a stage that no other package
// knows and takes it through a plan, the local engine, run.json, status, garbage collection and the writers for SLURM
// and Kubernetes.
package toytest
