import { expect, test } from 'vitest'
import { decideUpload, type Upload, type UploadRules } from './upload.ts'

const image: Upload = { kind: 'image', size_bytes: 1_000 }

test.each<[title: string, rules: UploadRules, upload: Upload, answer: string]>([
  ['nothing is set', {}, image, 'allow'],
  ['all is denied', { upload: 'deny' }, image, 'deny'],
  ['all is asked about', { upload: 'ask' }, image, 'ask'],
  ['its kind goes first', { upload: 'deny', upload_image: 'allow' }, image, 'allow'],
  ['another kind does not count', { upload_pdf: 'deny' }, image, 'allow'],
  ['it is as large as may be', { upload_deny_over: 1_000 }, image, 'allow'],
  ['it is too large', { upload_deny_over: 999 }, image, 'deny'],
  ['it is large', { upload_ask_over: 999 }, image, 'ask'],
  ['it is as large as goes unasked', { upload_ask_over: 1_000 }, image, 'allow'],
  ['it is too large to be asked about', { upload: 'ask', upload_deny_over: 999 }, image, 'deny'],
  ['size never widens', { upload: 'deny', upload_ask_over: 5 }, image, 'deny'],
])('an upload is decided where %s', (_title, rules, upload, answer) => {
  expect(decideUpload(upload, rules).answer).toBe(answer)
})
