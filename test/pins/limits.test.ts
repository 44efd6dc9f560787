import { expect, test } from 'vitest'
import { BLOB_EXTENSIONS } from '../../src/model/ids.ts'
import { ATTACHMENT_EXTENSIONS, LIMITS } from '../../src/model/limits.ts'

test('the limits are these [TI-035] [TI-036] [TI-103] [TI-107] [TI-117] [SH-033] [AT-006] [AT-048]', () => {
  expect(LIMITS).toEqual({
    user_text_bytes: 1_048_576,
    piped_text_bytes: 65_536,
    piped_wait_ms: 3_000,
    pinned_text_bytes: 8_192,
    mention_lines: 2_000,
    mention_bytes: 51_200,
    mention_read_bytes: 1_048_576,
    message_mentions: 32,
    message_mention_bytes: 262_144,
    message_command_bytes: 32_768,
    person_command_bytes: 8_192,
    attachment_bytes: 10_485_760,
    turn_attachment_bytes: 18_874_368,
    request_resource_bytes: 18_874_368,
    attachment_ms: 10_000,
    turn_attachment_ms: 30_000,
    image_pixels: 64_000_000,
    image_side_pixels: 16_384,
    pdf_text_bytes: 262_144,
    descriptor_bytes: 400,
    link_uri_bytes: 1_000,
    fork_resources: 64,
    presenter_context_keys: 12,
    presenter_context_value_bytes: 240,
    presenter_context_bytes: 1_200,
    hydrated_output_bytes: 32_768,
    hydrated_output_max_bytes: 262_144,
    hydrated_spool_bytes: 10_485_760,
    hydration_ms: 10_000,
    hydration_max_ms: 60_000,
    skill_file_bytes: 262_144,
    skill_front_matter_bytes: 49_152,
    skill_context_sources: 32,
    skills_index_bytes: 8_192,
    tool_output_bytes: 51_200,
    instructions_text_bytes: 32_768,
    instructions_file_bytes: 1_048_576,
    instructions_files: 16,
    instructions_path_bytes: 2_048,
    turn_provider_calls: 100,
    session_waiting_turns: 8,
    message_key_bytes: 128,
    cache_key_bytes: 96,
    blob_bytes: 268_435_456,
    frame_bytes: 262_144,
    frame_text_bytes: 204_800,
    frame_images: 4,
    frame_status_bytes: 200,
    frame_error_bytes: 4_096,
    frame_notices: 20,
    frame_notice_bytes: 300,
    message_status_frames: 500,
    frames_in_memory: 1_000,
    tether_address_bytes: 128,
    sender_name_bytes: 64,
    sender_bytes: 512,
    mcp_message_bytes: 67_108_864,
    mcp_page_image_bytes: 41_943_040,
    event_line_bytes: 1_048_576,
    event_field_bytes: 65_536,
    event_depth: 64,
  })
})

test('no part of the program can change the limits', () => {
  expect(Object.isFrozen(LIMITS)).toBe(true)
  expect(Object.isFrozen(ATTACHMENT_EXTENSIONS)).toBe(true)
})

test('exactly nine extensions may be attached [AT-014]', () => {
  expect(ATTACHMENT_EXTENSIONS).toEqual({
    '.png': { media_type: 'image/png', kind: 'image' },
    '.jpg': { media_type: 'image/jpeg', kind: 'image' },
    '.jpeg': { media_type: 'image/jpeg', kind: 'image' },
    '.gif': { media_type: 'image/gif', kind: 'image' },
    '.webp': { media_type: 'image/webp', kind: 'image' },
    '.pdf': { media_type: 'application/pdf', kind: 'pdf' },
    '.txt': { media_type: 'text/plain', kind: 'text' },
    '.md': { media_type: 'text/markdown', kind: 'text' },
    '.csv': { media_type: 'text/csv', kind: 'text' },
  })
})

test('a blob has one of these extensions, by its media type [TI-014]', () => {
  expect(BLOB_EXTENSIONS).toEqual({
    'image/png': 'png',
    'image/jpeg': 'jpg',
    'image/gif': 'gif',
    'image/webp': 'webp',
    'application/pdf': 'pdf',
    'text/plain': 'txt',
    'text/markdown': 'md',
    'text/csv': 'csv',
    'application/json': 'json',
    'application/octet-stream': 'bin',
  })
})
