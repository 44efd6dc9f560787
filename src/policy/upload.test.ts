import { expect, test } from 'vitest'
import { decideUpload, type Upload, type UploadRules } from './upload.ts'

const image: Upload = { kind: 'image', size_bytes: 1_000 }

test.each<[title: string, rules: UploadRules, upload: Upload, answer: string]>([
  ['nothing is set', {}, image, 'allow'],
  ['everything is denied', { upload: 'deny' }, image, 'deny'],
  ['everything asks', { upload: 'ask' }, image, 'ask'],
  ['a rule for its kind comes first', { upload: 'deny', upload_image: 'allow' }, image, 'allow'],
  ['another kind does not count', { upload_pdf: 'deny' }, image, 'allow'],
  ['its size equals the deny limit', { upload_deny_over: 1_000 }, image, 'allow'],
  ['its size exceeds the deny limit', { upload_deny_over: 999 }, image, 'deny'],
  ['its size exceeds the ask limit', { upload_ask_over: 999 }, image, 'ask'],
  ['its size equals the ask limit', { upload_ask_over: 1_000 }, image, 'allow'],
  [
    'everything asks and its size exceeds the deny limit',
    { upload: 'ask', upload_deny_over: 999 },
    image,
    'deny',
  ],
  ['size never widens', { upload: 'deny', upload_ask_over: 5 }, image, 'deny'],
])('an upload is decided when %s', (_title, rules, upload, answer) => {
  expect(decideUpload(upload, rules).answer).toBe(answer)
})
