#include "textflag.h"

// Both kernels take four rows at a time: R8 to R11 point at them, DX runs over the bytes of a row, BX is its length in bytes.

#define ROWS4 \
	MOVLQSX 0(CX), R8; IMULQ BX, R8; ADDQ R12, R8; \
	MOVLQSX 4(CX), R9; IMULQ BX, R9; ADDQ R12, R9; \
	MOVLQSX 8(CX), R10; IMULQ BX, R10; ADDQ R12, R10; \
	MOVLQSX 12(CX), R11; IMULQ BX, R11; ADDQ R12, R11

// Joins the eight partial sums of each of Y0 to Y3 and stores the four totals.
#define STORE4 \
	VPHADDD Y1, Y0, Y0; \
	VPHADDD Y3, Y2, Y2; \
	VPHADDD Y2, Y0, Y0; \
	VEXTRACTI128 $1, Y0, X1; \
	VPADDD X1, X0, X0; \
	VMOVDQU X0, (DI)

// func dotRowsAVX2(out *int32, a, table *int16, rows *int32, n, dim int)
TEXT ·dotRowsAVX2(SB), NOSPLIT, $0-48
	MOVQ out+0(FP), DI
	MOVQ a+8(FP), SI
	MOVQ table+16(FP), R12
	MOVQ rows+24(FP), CX
	MOVQ n+32(FP), R13
	MOVQ dim+40(FP), BX
	SHLQ $1, BX

block:
	ROWS4
	VPXOR Y0, Y0, Y0
	VPXOR Y1, Y1, Y1
	VPXOR Y2, Y2, Y2
	VPXOR Y3, Y3, Y3
	XORQ DX, DX

step:
	VMOVDQU (SI)(DX*1), Y4
	VPMADDWD (R8)(DX*1), Y4, Y5
	VPMADDWD (R9)(DX*1), Y4, Y6
	VPMADDWD (R10)(DX*1), Y4, Y7
	VPMADDWD (R11)(DX*1), Y4, Y8
	VPADDD Y5, Y0, Y0
	VPADDD Y6, Y1, Y1
	VPADDD Y7, Y2, Y2
	VPADDD Y8, Y3, Y3
	ADDQ $32, DX
	CMPQ DX, BX
	JLT step

	STORE4
	ADDQ $16, CX
	ADDQ $16, DI
	SUBQ $4, R13
	JGT block
	VZEROUPPER
	RET

// func dotRowsVNNI(out *int32, a, table *int16, rows *int32, n, dim int)
TEXT ·dotRowsVNNI(SB), NOSPLIT, $0-48
	MOVQ out+0(FP), DI
	MOVQ a+8(FP), SI
	MOVQ table+16(FP), R12
	MOVQ rows+24(FP), CX
	MOVQ n+32(FP), R13
	MOVQ dim+40(FP), BX
	SHLQ $1, BX

block:
	ROWS4
	VPXORD Z0, Z0, Z0
	VPXORD Z1, Z1, Z1
	VPXORD Z2, Z2, Z2
	VPXORD Z3, Z3, Z3
	XORQ DX, DX

step:
	VMOVDQU64 (SI)(DX*1), Z4
	VPDPWSSD (R8)(DX*1), Z4, Z0
	VPDPWSSD (R9)(DX*1), Z4, Z1
	VPDPWSSD (R10)(DX*1), Z4, Z2
	VPDPWSSD (R11)(DX*1), Z4, Z3
	ADDQ $64, DX
	CMPQ DX, BX
	JLT step

	VEXTRACTI64X4 $1, Z0, Y5
	VEXTRACTI64X4 $1, Z1, Y6
	VEXTRACTI64X4 $1, Z2, Y7
	VEXTRACTI64X4 $1, Z3, Y8
	VPADDD Y5, Y0, Y0
	VPADDD Y6, Y1, Y1
	VPADDD Y7, Y2, Y2
	VPADDD Y8, Y3, Y3
	STORE4
	ADDQ $16, CX
	ADDQ $16, DI
	SUBQ $4, R13
	JGT block
	VZEROUPPER
	RET
