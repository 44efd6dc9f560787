import { expect, test } from 'vitest'
import { exportOrder } from './export-command.ts'

test.each([
  ['', { format: 'markdown', path: 'session-x9y0z1.md' }],
  ['html', { format: 'html', path: 'session-x9y0z1.html' }],
  ['json out/all.json', { format: 'json', path: 'out/all.json' }],
  ['page.html', { format: 'html', path: 'page.html' }],
  ['my notes', { format: 'markdown', path: 'my notes' }],
  ['md "my notes.md"', { format: 'markdown', path: 'my notes.md' }],
  ['json page.html', { format: 'json', path: 'page.html' }],
  ['constructor', { format: 'markdown', path: 'constructor' }],
])('/export %s writes %j', (argument, order) => {
  expect(exportOrder(argument, 'ses_01kg8m2q3r4s5t6v7w8x9y0z1')).toEqual(order)
})
