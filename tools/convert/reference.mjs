// SPDX-License-Identifier: MIT
// Asks ONNX Runtime for the answers that gpuplan's are compared with.
//
//     node reference.mjs MODEL.onnx speech.wav reference.json
//
// Run it from a folder where `npm install --ignore-scripts onnxruntime-node` was done (README.md).
//
// Stream s is the recording turned round by s * 16 frames: a different order of frames, so a different
// history of state, for each batch lane or slot. Its state and the 64 samples of context before its
// first frame are zero. Frame i of stream s is samples [512 f, 512 f + 512) with f = (i + 16 s) mod N.

import { readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { basename, join } from "node:path";

const require = createRequire(join(process.cwd(), "reference.mjs"));
const ort = require("onnxruntime-node");

const FRAME = 512, CONTEXT = 64, STREAMS = 8, SHIFT = 16, STATE_EVERY = 32;

function readWav(path) {
  const data = readFileSync(path);
  // The committed file has the plain 44-byte header: PCM, one channel, 16000 Hz, 16 bits.
  const ok = data.toString("latin1", 0, 4) === "RIFF" && data.readUInt16LE(20) === 1 && data.readUInt16LE(22) === 1
    && data.readUInt32LE(24) === 16000 && data.readUInt16LE(34) === 16 && data.toString("latin1", 36, 40) === "data";
  if (!ok) throw new Error(`${path}: not a plain 16 kHz mono 16-bit WAV file`);
  const samples = new Float32Array(data.readUInt32LE(40) / 2);
  for (let i = 0; i < samples.length; i++) samples[i] = data.readInt16LE(44 + 2 * i) / 32768;
  return samples;
}

// Nine significant digits give every f32 back exactly.
const exact = (x) => Number(x.toPrecision(9));

async function runStream(session, samples, shift, states) {
  const frames = samples.length / FRAME;
  const input = new Float32Array(CONTEXT + FRAME);
  let state = new Float32Array(2 * 128);
  const probability = [];
  for (let i = 0; i < frames; i++) {
    const first = ((i + shift) % frames) * FRAME;
    input.copyWithin(0, FRAME, FRAME + CONTEXT);
    input.set(samples.subarray(first, first + FRAME), CONTEXT);
    const result = await session.run({
      input: new ort.Tensor("float32", input, [1, CONTEXT + FRAME]),
      state: new ort.Tensor("float32", state, [2, 1, 128]),
      sr: new ort.Tensor("int64", BigInt64Array.from([16000n]), []),
    });
    probability.push(exact(result.output.data[0]));
    state = Float32Array.from(result.stateN.data);
    if (states && ((i + 1) % STATE_EVERY === 0 || i + 1 === frames))
      states.push({ frame: i, stateN: Array.from(state, exact) });
  }
  return probability;
}

const [model, wav, out] = process.argv.slice(2);
if (!out) throw new Error("usage: node reference.mjs MODEL.onnx speech.wav reference.json");
const samples = readWav(wav);
if (samples.length % FRAME) throw new Error(`${wav}: ${samples.length} samples, not a multiple of ${FRAME}`);
const session = await ort.InferenceSession.create(model, {
  executionProviders: ["cpu"], intraOpNumThreads: 1, interOpNumThreads: 1,
});
const streams = [], states = [];
for (let s = 0; s < STREAMS; s++)
  streams.push({ shift: s * SHIFT, probability: await runStream(session, samples, s * SHIFT, s ? null : states) });

const head = {
  made_by: `onnxruntime-node ${require("onnxruntime-node/package.json").version}, CPU, ${basename(model)}`,
  wav: basename(wav), sample_rate: 16000, frame: FRAME, context: CONTEXT, frames: samples.length / FRAME,
  input: "input", output: "output", state_input: "state", state_output: "stateN", tolerance: 1e-4,
};
const lines = Object.entries(head).map(([key, value]) => `  ${JSON.stringify(key)}: ${JSON.stringify(value)}`);
lines.push(`  "streams": [\n${streams.map((s) => "    " + JSON.stringify(s)).join(",\n")}\n  ]`);
lines.push(`  "states": [\n${states.map((s) => "    " + JSON.stringify(s)).join(",\n")}\n  ]`);
writeFileSync(out, `{\n${lines.join(",\n")}\n}\n`);
console.log(`${head.frames} frames, ${STREAMS} streams, ${head.made_by}`);
