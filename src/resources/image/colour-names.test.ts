import { expect, test } from 'vitest'
import { colourName } from './colour-names.ts'

test.each([
  ['black', 0, 0, 0],
  ['black', 20, 20, 24],
  ['grey', 64, 64, 64],
  ['grey', 128, 128, 128],
  ['light grey', 211, 211, 211],
  ['white', 255, 255, 255],
  ['red', 255, 0, 0],
  ['red', 128, 0, 0],
  ['orange', 255, 140, 0],
  ['brown', 101, 67, 33],
  ['sand', 210, 180, 140],
  ['yellow', 255, 255, 0],
  ['green', 0, 128, 0],
  ['green', 0, 255, 0],
  ['turquoise', 0, 128, 128],
  ['turquoise', 0, 255, 255],
  ['light blue', 135, 206, 235],
  ['blue', 0, 0, 255],
  ['blue', 70, 130, 180],
  ['navy', 0, 0, 128],
  ['purple', 128, 0, 128],
  ['pink', 255, 192, 203],
  ['pink', 255, 0, 255],
])('%s is the name of %i, %i, %i', (name, red, green, blue) => {
  expect(colourName(red, green, blue)).toBe(name)
})
