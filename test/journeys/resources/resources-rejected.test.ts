import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { Session } from '../../../src/session/session.ts'
import { sampleFile, lastAnswer, picture, say } from '../../support/resources/sample-files.ts'
import { projected, resources, verified } from '../../support/resources/resource-events.ts'
import { visionPlace } from '../../support/resources/vision-place.ts'
import { value } from '../../support/log/story.ts'
import { WAYS } from '../../support/providers/ways.ts'
import { buildPdf } from '../../support/resources/build-pdf.ts'

// Turns with some or all attachments refused.

function messages(session: Session) {
  return session.events.flatMap((e) => (e.type === 'user_message' ? [e.data] : []))
}

test.each(WAYS)(
  '[AT-009] [AT-011] [AT-021] [AT-055] [AT-056] %s: one bad file among good ones is omitted with a warning before everything else',
  async (way) => {
    const place = await visionPlace(way)
    const image = await sampleFile(place.workspace, 'a.png', picture(1))
    const zip = await sampleFile(place.workspace, 'b.zip', Buffer.from('PK\u0003\u0004, or so'))
    const pdf = await sampleFile(place.workspace, 'c.pdf', buildPdf(['one page']))
    const session = value(await place.harness.create(place.begin))
    const attachments = [image.input, zip.input, pdf.input]
    expect(await say(session, 'What do you see?', { attachments })).toBe('completed')
    const [message] = messages(session)
    expect(message?.prompt_mode).toBe('blocks')
    expect(message?.attachment_errors?.map(({ code, name }) => [code, name])).toEqual([
      ['unsupported_type', 'b.zip'],
    ])
    const reason = message?.attachment_errors?.[0]?.reason ?? ''
    expect(reason).toMatch(/^Unsupported attachment extension '\.zip'\. /)
    expect(resources(session).map(({ handle, name }) => `${handle} ${name}`)).toEqual([
      '@img1 a.png',
      '@pdf2 c.pdf',
    ])
    const [request] = place.seen
    expect(request?.files.map((file) => file.split(' ')[0])).toEqual(['@img1', '@pdf2'])
    expect(request?.texts.map((text) => text.split('\n').slice(0, 2))).toEqual([
      ['1 attachment was rejected and cannot be seen.', 'Rejected attachments:'],
      ['What do you see?'],
      [request?.notes[0]],
      [request?.notes[1]],
    ])
    expect(request?.texts[0]?.endsWith(`\n- b.zip: ${reason}`)).toBe(true)
    expect(lastAnswer(session)).toContain('@img1 is a PNG picture, ')
    await verified(place, session)
  },
)

test.each(WAYS)(
  '[AT-025] [AT-026] [AT-027] [AT-028] [AT-029] [AT-059] %s: of many refused files three are named, by name and never by path',
  async (way) => {
    const place = await visionPlace(way)
    const session = value(await place.harness.create(place.begin))
    const names = ['a.png', 'b.pdf', 'c.txt', 'd.csv', 'e.md']
    const attachments = names.map((name) => {
      return { from: 'path', path: join(place.workspace, 'nowhere', name) } as const
    })
    expect(await say(session, 'What did it say?', { attachments })).toBe('completed')
    const lines = place.seen[0]?.texts[0]?.split('\n') ?? []
    expect(lines.slice(0, 2)).toEqual([
      '5 attachments were rejected and cannot be seen.',
      'Rejected attachments:',
    ])
    expect(lines.slice(2, 5)).toEqual([
      '- a.png: Attachment file not found: a.png',
      '- b.pdf: Attachment file not found: b.pdf',
      '- c.txt: Attachment file not found: c.txt',
    ])
    expect(lines.slice(5)).toEqual(['- and 2 more', '', 'What did it say?'])
    const codes = messages(session)[0]?.attachment_errors?.map(({ code }) => code)
    expect(codes).toEqual(names.map(() => 'not_found'))
    expect(JSON.stringify(session.events)).not.toContain('nowhere')
    await verified(place, session)
  },
)

test.each(WAYS)(
  '[AT-010] [AT-013] [AT-060] %s: when every attachment fails and there is text, the Turn is one string: warning, blank line, text',
  async (way) => {
    const place = await visionPlace(way)
    const zip = await sampleFile(place.workspace, 'b.zip', Buffer.from('PK\u0003\u0004'))
    const session = value(await place.harness.create(place.begin))
    expect(await say(session, 'What did it say?', { attachments: [zip.input] })).toBe('completed')
    expect(messages(session).map(({ prompt_mode }) => prompt_mode)).toEqual(['string'])
    const [request] = place.seen
    expect([request?.texts.length, request?.files]).toEqual([1, []])
    expect(request?.texts[0]).toMatch(
      /^1 attachment was rejected and cannot be seen\.\nRejected attachments:\n- b\.zip: [^\n]+\n\nWhat did it say\?$/,
    )
    expect(projected(session)).toEqual([[]])
    await verified(place, session)
  },
)

test.each(WAYS)(
  '[AT-003] [AT-009] %s: when every attachment fails and there is no text, the Turn is refused, logged, and not sent',
  async (way) => {
    const place = await visionPlace(way)
    const zip = await sampleFile(place.workspace, 'b.zip', Buffer.from('PK\u0003\u0004'))
    const gone = { from: 'path', path: join(place.workspace, 'gone.png') } as const
    const session = value(await place.harness.create(place.begin))
    const refused = await session.admit(' ', { attachments: [zip.input, gone] })
    if (refused.ok) throw new Error('a Turn without anything was taken')
    const { kind, details } = refused.error
    expect(kind).toBe('attachments_failed')
    expect(details).toMatchObject({
      category: 'ALL_ATTACHMENTS_FAILED_NO_TEXT',
      rejectedAttachmentCount: 2,
      attachmentErrors: [
        { path: zip.path, code: 'unsupported_type' },
        { path: gone.path, code: 'not_found' },
      ],
    })
    const turn = session.events.filter(({ turn_id }) => turn_id !== undefined)
    expect(turn.map(({ type }) => type)).toEqual(['turn_started', 'user_message', 'turn_ended'])
    expect(turn.at(-1)?.data).toMatchObject({ status: 'refused' })
    expect(JSON.stringify(session.events.slice(-3))).not.toContain(place.workspace)
    expect(place.seen).toEqual([])
    expect(await say(session, 'What did it say?')).toBe('completed')
    expect(place.seen.map(({ texts }) => texts)).toEqual([['What did it say?']])
    await verified(place, session)
  },
)

test.each(WAYS)(
  '[AT-010] %s: text with only a link is one string, and no attachment is missing from it',
  async (way) => {
    const place = await visionPlace(way)
    const session = value(await place.harness.create(place.begin))
    const link = { from: 'link', uri: 'https://a.example/report.pdf' } as const
    await writeFile(join(place.workspace, 'a.txt'), 'the first line\n')
    expect(await say(session, 'Read a.txt', { attachments: [link] })).toBe('completed')
    expect(messages(session).map(({ prompt_mode }) => prompt_mode)).toEqual(['string'])
    expect(place.seen[0]?.texts).toEqual([`Read a.txt\n\n${place.seen[0]?.notes[0]}`])
    expect(lastAnswer(session)).toContain('the first line')
    await verified(place, session)
  },
)

test.each(WAYS)('%s: an empty message is not a Turn', async (way) => {
  const place = await visionPlace(way)
  const session = value(await place.harness.create(place.begin))
  const refused = await session.admit(' \n')
  expect(refused.ok ? 'ok' : refused.error.kind).toBe('invalid_args')
  expect(messages(session)).toEqual([])
})

test.each(WAYS)(
  '%s: queued Turns keep their order, however long reading their attachments takes',
  async (way) => {
    const place = await visionPlace(way)
    const image = await sampleFile(place.workspace, 'a.png', picture(1))
    const session = value(await place.harness.create(place.begin))
    const whenBusy = 'queue'
    const first = session.admit('One.', { attachments: [image.input], whenBusy })
    const second = session.admit('Two.', { whenBusy })
    for (const admitted of await Promise.all([first, second])) value(await value(admitted).done)
    expect(messages(session).map(({ text }) => text)).toEqual(['One.', 'Two.'])
    expect(place.seen.map(({ files }) => files.length)).toEqual([1, 0])
  },
)
