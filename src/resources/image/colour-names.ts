/** The name of a colour: that of the nearest swatch in OKLab, where equal distances look about equally different. */
export function colourName(red: number, green: number, blue: number): string {
  const colour = labOf(red, green, blue)
  let nearest = ''
  let least = Infinity
  for (const { name, lab } of SWATCHES) {
    const distance = distanceBetween(colour, lab)
    if (distance >= least) continue
    least = distance
    nearest = name
  }
  return nearest
}

/** Sixteen names. A name has several swatches if people use it for rather different colours. */
const TABLE: Readonly<Record<string, readonly string[]>> = {
  black: ['000000', '1c1c1c'],
  grey: ['4a4a4a', '808080', 'a0a0a0'],
  'light grey': ['cccccc'],
  white: ['ffffff', 'f6f2e8'],
  red: ['dc1e28', 'ff0000', '8c1420', 'b02a30'],
  orange: ['f5821e', 'ff6a3c', 'd2691e'],
  brown: ['7d4b23', '5c4230', 'a07850'],
  sand: ['e1c896', 'ecdcc4', 'd2b48c'],
  yellow: ['fae132', 'ffff00', 'ffd700', 'f5e682'],
  green: ['239640', '00ff00', '0a5a28', 'a0dc3c', '80c890', '808000'],
  turquoise: ['008c8c', '40e0d0', '00ffff'],
  'light blue': ['82beeb', 'b4d7f0'],
  blue: ['1e5adc', '0000ff', '4682b4', '2c628e'],
  navy: ['0f1e64', '143458', '191970'],
  purple: ['7d32a5', '4b0082', 'a078dc'],
  pink: ['f582b4', 'ff00ff', 'ffc0cb', 'e0409a'],
}

type Lab = readonly [lightness: number, a: number, b: number]

const SWATCHES = Object.entries(TABLE).flatMap(([name, swatches]) =>
  swatches.map((hex) => {
    const [red = 0, green = 0, blue = 0] = Buffer.from(hex, 'hex')
    return { name, lab: labOf(red, green, blue) }
  }),
)

function distanceBetween(one: Lab, other: Lab): number {
  return (one[0] - other[0]) ** 2 + (one[1] - other[1]) ** 2 + (one[2] - other[2]) ** 2
}

/** From sRGB, with the published OKLab matrices. */
function labOf(red: number, green: number, blue: number): Lab {
  const [r, g, b] = [linear(red), linear(green), linear(blue)]
  const long = Math.cbrt(0.4122214708 * r + 0.5363325363 * g + 0.0514459929 * b)
  const medium = Math.cbrt(0.2119034982 * r + 0.6806995451 * g + 0.1073969566 * b)
  const short = Math.cbrt(0.0883024619 * r + 0.2817188376 * g + 0.6299787005 * b)
  return [
    0.2104542553 * long + 0.793617785 * medium - 0.0040720468 * short,
    1.9779984951 * long - 2.428592205 * medium + 0.4505937099 * short,
    0.0259040371 * long + 0.7827717662 * medium - 0.808675766 * short,
  ]
}

function linear(channel: number): number {
  const part = channel / 255
  return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4
}
