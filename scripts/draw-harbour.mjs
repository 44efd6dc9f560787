// Draws examples/harbour.png, a small image to try attachments with. `node scripts/draw-harbour.mjs` draws the same bytes again.
import { mkdir, writeFile } from 'node:fs/promises'
import { crc32, deflateSync } from 'node:zlib'

const WIDTH = 640
const HEIGHT = 400
const HORIZON = 230
const PLACE = new URL('../examples/harbour.png', import.meta.url)

const SKY = [
  [118, 176, 224],
  [236, 220, 196],
]
const SEA = [
  [44, 98, 142],
  [20, 52, 88],
]
const QUAY = [112, 104, 98]
const SUN = [252, 214, 112]
const HULL = [176, 40, 44]
const SAIL = [246, 240, 226]
const TOWER = [238, 236, 230]
const BAND = [196, 52, 48]
const LAMP = [255, 226, 120]
const ROPE = [206, 180, 128]
const MAST = [92, 66, 46]

await mkdir(new URL('.', PLACE), { recursive: true })
await writeFile(PLACE, png(drawn()))

/** Later shapes cover earlier ones. */
function drawn() {
  const pixels = Buffer.alloc(WIDTH * HEIGHT * 3)
  for (let y = 0; y < HEIGHT; y += 1) {
    for (let x = 0; x < WIDTH; x += 1) pixels.set(colourAt(x, y), (y * WIDTH + x) * 3)
  }
  return pixels
}

function colourAt(x, y) {
  if (x < 250 && y > 330) return QUAY
  if (inBoat(x, y)) return HULL
  if (inSail(x, y)) return SAIL
  if (x > 447 && x < 453 && y > 120 && y < 268) return MAST
  if (onRope(x, y)) return ROPE
  if (inTower(x, y)) return Math.floor((y - 110) / 36) % 2 === 0 ? TOWER : BAND
  if (x > 82 && x < 118 && y > 84 && y <= 110) return LAMP
  if (y < HORIZON && Math.hypot(x - 300, y - 190) < 34) return SUN
  return y < HORIZON ? between(SKY, y / HORIZON) : waves(x, y)
}

function inTower(x, y) {
  const half = 20 + (y - 110) / 16
  return y > 110 && y <= 330 && Math.abs(x - 100) < half
}

function inBoat(x, y) {
  const depth = y - 268
  return depth >= 0 && depth < 36 && x > 360 + depth && x < 560 - depth * 1.6
}

function inSail(x, y) {
  const main = y > 124 && y < 258 && x > 454 && x < 454 + (y - 124) * 0.62
  const fore = y > 140 && y < 258 && x < 446 && x > 446 - (y - 140) * 0.6
  return main || fore
}

/** It hangs between the quay and the bow. */
function onRope(x, y) {
  if (x < 232 || x > 364) return false
  const part = (x - 232) / 132
  const hangs = 334 - part * 62 + Math.sin(part * Math.PI) * 22
  return Math.abs(y - hangs) < 2
}

function waves(x, y) {
  const crest = Math.sin(x / 17 + y / 5) + Math.sin(x / 7 - y / 9) > 1.5
  const colour = between(SEA, (y - HORIZON) / (HEIGHT - HORIZON))
  return crest ? colour.map((part) => Math.min(255, part + 38)) : colour
}

function between([from, to], part) {
  return from.map((start, at) => Math.round(start + (to[at] - start) * part))
}

/** Eight bits per channel, no filter. */
function png(pixels) {
  const rows = Array.from({ length: HEIGHT }, (_, y) =>
    Buffer.concat([Buffer.of(0), pixels.subarray(y * WIDTH * 3, (y + 1) * WIDTH * 3)]),
  )
  const header = Buffer.alloc(13)
  header.writeUInt32BE(WIDTH, 0)
  header.writeUInt32BE(HEIGHT, 4)
  header.set([8, 2, 0, 0, 0], 8)
  return Buffer.concat([
    Buffer.from('89504e470d0a1a0a', 'hex'),
    chunk('IHDR', header),
    chunk('IDAT', deflateSync(Buffer.concat(rows), { level: 9 })),
    chunk('IEND', Buffer.alloc(0)),
  ])
}

function chunk(name, data) {
  const body = Buffer.concat([Buffer.from(name, 'latin1'), data])
  const framed = Buffer.alloc(body.length + 8)
  framed.writeUInt32BE(data.length, 0)
  framed.set(body, 4)
  framed.writeUInt32BE(crc32(body), body.length + 4)
  return framed
}
