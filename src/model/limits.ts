import type { BlobMediaType } from './ids.ts'

const KIB = 1024
const MIB = 1024 * KIB

/**
 * The only table of limits: every entry point enforces these, and the API serves them. All are inclusive.
 * `turn_provider_calls` and `session_waiting_turns` are defaults that settings may change.
 */
export const LIMITS = Object.freeze({
  user_text_bytes: MIB,
  piped_text_bytes: 64 * KIB,
  piped_wait_ms: 3_000,
  pinned_text_bytes: 8 * KIB,

  mention_lines: 2_000,
  mention_bytes: 50 * KIB,
  mention_read_bytes: MIB,
  message_mentions: 32,
  message_mention_bytes: 256 * KIB,
  message_command_bytes: 32 * KIB,
  person_command_bytes: 8 * KIB,

  attachment_bytes: 10 * MIB,
  turn_attachment_bytes: 18 * MIB,
  request_resource_bytes: 18 * MIB,
  attachment_ms: 10_000,
  turn_attachment_ms: 30_000,
  image_pixels: 64_000_000,
  image_side_pixels: 16_384,
  pdf_text_bytes: 256 * KIB,

  descriptor_bytes: 400,
  link_uri_bytes: 1_000,
  fork_resources: 64,

  presenter_context_keys: 12,
  presenter_context_value_bytes: 240,
  presenter_context_bytes: 1_200,

  hydrated_output_bytes: 32 * KIB,
  hydrated_output_max_bytes: 256 * KIB,
  hydrated_spool_bytes: 10 * MIB,
  hydration_ms: 10_000,
  hydration_max_ms: 60_000,
  skill_file_bytes: 256 * KIB,
  skill_front_matter_bytes: 48 * KIB,
  skill_context_sources: 32,
  skills_index_bytes: 8 * KIB,
  tool_output_bytes: 50 * KIB,

  instructions_text_bytes: 32 * KIB,
  instructions_file_bytes: MIB,
  instructions_files: 16,
  instructions_path_bytes: 2 * KIB,

  turn_provider_calls: 100,
  session_waiting_turns: 8,
  message_key_bytes: 128,
  cache_key_bytes: 96,
  blob_bytes: 256 * MIB,

  frame_bytes: 256 * KIB,
  frame_text_bytes: 200 * KIB,
  frame_images: 4,
  frame_status_bytes: 200,
  frame_error_bytes: 4 * KIB,
  frame_notices: 20,
  frame_notice_bytes: 300,
  message_status_frames: 500,
  frames_in_memory: 1_000,
  tether_address_bytes: 128,
  sender_name_bytes: 64,
  sender_bytes: 512,

  mcp_message_bytes: 64 * MIB,
  mcp_page_image_bytes: 40 * MIB,

  event_line_bytes: MIB,
  event_field_bytes: 64 * KIB,
  event_depth: 64,
})

interface AttachmentType {
  readonly media_type: BlobMediaType
  readonly kind: 'image' | 'pdf' | 'text'
}

/** The file extensions that can be attached. The magic bytes must match. */
export const ATTACHMENT_EXTENSIONS = Object.freeze({
  '.png': { media_type: 'image/png', kind: 'image' },
  '.jpg': { media_type: 'image/jpeg', kind: 'image' },
  '.jpeg': { media_type: 'image/jpeg', kind: 'image' },
  '.gif': { media_type: 'image/gif', kind: 'image' },
  '.webp': { media_type: 'image/webp', kind: 'image' },
  '.pdf': { media_type: 'application/pdf', kind: 'pdf' },
  '.txt': { media_type: 'text/plain', kind: 'text' },
  '.md': { media_type: 'text/markdown', kind: 'text' },
  '.csv': { media_type: 'text/csv', kind: 'text' },
} as const satisfies Record<string, AttachmentType>)

/** Defaults of limits that only settings define. */
export const LIMIT_DEFAULTS = {
  command_seconds: 120,
  command_processes: 4_096,
  command_memory_percent: 75,
  idle_seconds: 180,
  question_seconds: 120,
  retries: 4,
} as const

/** Where the tiers of pressure begin, in percent of the window, unless set otherwise. Critical is above its limit. */
export const TIER_PERCENT = { advisory: 70, warning: 80, critical: 90 } as const
