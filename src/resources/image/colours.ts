import type { ImageDescription } from '../../model/description.ts'
import { colourName } from './colour-names.ts'
import type { Pixels } from './pixels.ts'

/** The colours of an image and where they are, by name. Pure. */
export function coloursOf(pixels: Pixels): Pick<ImageDescription, 'colours' | 'regions'> {
  const names = pixelNames(pixels)
  const shares = byShare(names).filter(({ share }, index) => index === 0 || share >= LEAST_SHARE)
  return {
    colours: shares
      .slice(0, MOST_COLOURS)
      .map(({ name, share }) => ({ name, share: Math.round(share * 100) / 100 })),
    regions: REGIONS.map(({ where, column, row }) => ({
      where,
      colour: byShare(regionNames(names, pixels, column, row))[0]?.name ?? '',
    })),
  }
}

const MOST_COLOURS = 4
/** Smaller shares are ignored. */
const LEAST_SHARE = 0.02
/** Pixels with less opacity are invisible. */
const LEAST_OPACITY = 128

/** Cells of a three-by-three grid. */
const REGIONS = [
  { where: 'top left', column: 0, row: 0 },
  { where: 'top right', column: 2, row: 0 },
  { where: 'centre', column: 1, row: 1 },
  { where: 'bottom left', column: 0, row: 2 },
  { where: 'bottom right', column: 2, row: 2 },
] as const

function pixelNames({ width, height, data }: Pixels): string[] {
  const known = new Map<number, string>()
  return Array.from({ length: width * height }, (_, pixel) => {
    const at = pixel * 4
    if ((data[at + 3] ?? 0) < LEAST_OPACITY) return 'transparent'
    const colour = data.readUIntBE(at, 3)
    const name = known.get(colour) ?? colourName(colour >> 16, (colour >> 8) & 255, colour & 255)
    known.set(colour, name)
    return name
  })
}

/** At least one pixel, even in a tiny image. */
function regionNames(
  names: readonly string[],
  { width, height }: Pixels,
  column: number,
  row: number,
): string[] {
  const [left, right] = third(width, column)
  const [top, bottom] = third(height, row)
  return Array.from({ length: bottom - top }, (_, y) =>
    names.slice((top + y) * width + left, (top + y) * width + right),
  ).flat()
}

function third(length: number, index: number): [from: number, to: number] {
  const from = Math.min(length - 1, Math.floor((length * index) / 3))
  return [from, Math.max(from + 1, Math.floor((length * (index + 1)) / 3))]
}

/** Equal shares are in alphabetical order. */
function byShare(names: readonly string[]): { name: string; share: number }[] {
  const counts = new Map<string, number>()
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1)
  return [...counts]
    .map(([name, count]) => ({ name, share: count / names.length }))
    .toSorted((a, b) => b.share - a.share || (a.name < b.name ? -1 : 1))
}
