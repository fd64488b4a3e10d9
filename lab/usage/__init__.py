"""What users do with a retriever: logs of questions, clicks on hits, two versions compared
online."""
