/** The Worker behind the story. */
import { answerCalls } from "../look/calls.js";
import { QUESTIONS } from "../story/questions.js";

answerCalls(QUESTIONS);
