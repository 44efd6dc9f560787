import { expect, test } from 'vitest'
import {
  callsWithResults,
  opening,
  textSegment,
  thinkOf,
  user,
} from '../../../test/support/providers/rehearsal-request.ts'
import { hydratedText, hydration, skill } from '../../prompt/words/skills.ts'

const HYDRATION = {
  context_source_id: 'changes',
  skill: { name: 'review' },
  status: 'ok',
  output_bytes: 6,
  output_sha256: 'a'.repeat(64),
}

test('a message that activates a Skill is answered with the facts that were hydrated in its Turn', () => {
  const earlier = skill({ name: 'old', args: '', activated_by: 'user' })
  const { text, calls } = thinkOf(
    ...opening('/old'),
    textSegment('developer', earlier),
    textSegment('assistant', 'Done.'),
    user('/review --with changes,log'),
    textSegment('developer', skill({ name: 'review', args: '', activated_by: 'user' })),
    textSegment('developer', 'Read the diff.'),
    textSegment('developer', hydration(HYDRATION)),
    textSegment('developer', hydratedText('changes', '+ rope\n- ```\n')),
    textSegment(
      'developer',
      hydration({ ...HYDRATION, context_source_id: 'log', status: 'denied' }),
    ),
  )
  expect(calls).toEqual([])
  expect(text).toBe(
    [
      'The Skill "review" is active in this Turn.',
      'The context "changes" says:\n>     + rope\n>     - ```',
      'The context "log" was not fetched: denied.',
    ].join('\n\n'),
  )
})

test('a first message that activates a Skill is not answered with the files of the folder', () => {
  const activated = skill({ name: 'review', args: '', activated_by: 'user' })
  const { text, calls } = thinkOf(...opening('/review'), textSegment('developer', activated))
  expect({ text, calls }).toEqual({ text: 'The Skill "review" is active in this Turn.', calls: [] })
})

test('a Skill that is asked for is used, and what it hydrated is reported', () => {
  const say = 'Use the Skill review, then fetch the context changes of the Skill review.'
  const tools = ['skill_view', 'hydrate_context']
  const start = opening(say, tools)
  const [view] = thinkOf(...start).calls
  expect(view).toEqual({ name: 'skill_view', arguments: { name: 'review' } })
  const activated = [
    ...start,
    ...callsWithResults(view === undefined ? [] : [view]),
    textSegment('developer', skill({ name: 'review', args: '', activated_by: 'model' })),
  ]
  const [fetch] = thinkOf(...activated).calls
  expect(fetch).toEqual({
    name: 'hydrate_context',
    arguments: { skill: 'review', context_source_id: 'changes' },
  })
  const { text } = thinkOf(
    ...activated,
    ...callsWithResults(fetch === undefined ? [] : [fetch]),
    textSegment('developer', hydratedText('changes', '+ rope')),
  )
  expect(text).toContain('The context "changes" says:\n> + rope')
})
