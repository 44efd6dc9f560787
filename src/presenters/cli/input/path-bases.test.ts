import { expect, test } from 'vitest'
import { pathBases } from './path-bases.ts'

test.each([
  ['/w', ['/w']],
  ['/w/src', ['/w/src', '/w']],
  ['/w/..src', ['/w/..src', '/w']],
  ['/', ['/w', '/']],
  ['/w2', ['/w', '/w2']],
  [undefined, ['/w']],
])('in %s, paths of the workspace /w are relative to %j', (here, bases) => {
  const cwd = () => {
    if (here === undefined) throw new Error('gone')
    return here
  }
  expect(pathBases({ cwd }, '/w')).toEqual(bases)
})
